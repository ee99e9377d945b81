//! Sums over the CTAs of a cluster that have divided K.

/// The parts of the kernel language: import them into a module of kernels.
#[cute_runtime::kernels]
pub mod kernels {
    /// The CTAS CTAs of a cluster, up to eight, compute one tile: CTA r takes steps r, r + CTAS, … along K, and then the sums of
    /// part r of the columns. Each warpgroup has 64 × N accumulators of type C.
    pub struct Split<C: Element, const CTAS: u32, const N: u32> {
        rank: u32,
        exchange: Option<Exchange>,
    }

    /// Barriers of CTAs that exchange parts of their accumulators: two of each kind, one for each warpgroup, except `done`.
    struct Exchange {
        /// The other CTAs have read all their stages, so that they can receive.
        ready: Barriers,
        /// The parts from the other CTAs have arrived.
        arrived: Barriers,
        /// The other CTAs have read the parts from this CTA.
        read: Barriers,
        /// The stages of this CTA can be filled again.
        done: Barriers,
        /// The numbers of the named barriers of both warpgroups, and of the first of those of one.
        both: u32,
        one: u32,
    }

    impl<C: Element, const CTAS: u32, const N: u32> Split<C, CTAS, N> {
        /// The part of this CTA.
        pub fn new() -> Self {
            if CTAS == 1 {
                Self {
                    rank: 0,
                    exchange: None,
                }
            } else {
                Self {
                    rank: cluster_ctarank(),
                    exchange: Some(Exchange {
                        ready: mbarriers(2, CTAS - 1),
                        arrived: mbarriers(2, 1),
                        read: mbarriers(2, CTAS - 1),
                        done: mbarriers(1, 2),
                        both: named_barriers(1),
                        one: named_barriers(2),
                    }),
                }
            }
        }

        /// How many of `all` steps this CTA takes. It is at least one, which may lie behind the last: TMA loads zeros there.
        pub fn steps(&self, all: u32) -> u32 {
            if CTAS == 1 {
                all
            } else {
                max((all + CTAS - 1 - self.rank) / CTAS, 1)
            }
        }

        /// The number of this CTA's step number `step`.
        pub fn step(&self, step: u32) -> u32 {
            step * CTAS + self.rank
        }

        /// The pause of the thread that fills stages, after the stages of a tile. It has filled the stages of `turn` tiles before.
        pub fn pause(&self, turn: u32) {
            if let Some(exchange) = self.exchange {
                wait(exchange.done[0], turn % 2);
            }
        }

        /// The sums of this CTA's part of the columns, and the first of these columns. `turn` counts the calls before. Until
        /// `release`, the bytes of two tensors in shared memory are overwritten; neither TMA nor this warpgroup may still use
        /// them. All threads of warpgroup number `warpgroup`, 0 or 1, of all CTAs call this.
        ///
        /// CTA r adds the parts of CTAs r, r + 1, …, then those of 0 to r - 1, so results do not depend on the order of arrival.
        pub fn sum(
            &self,
            acc: Fragment,
            warpgroup: u32,
            turn: u32,
            out: Tensor,
            into: Tensor,
        ) -> (Fragment, u32) {
            if let Some(exchange) = self.exchange {
                let columns = N / CTAS;
                // Values lie in shared memory as threads hold them.
                let tile = layout!((64, columns));
                let held = composition(right_inverse(composition(tile, wgmma_c(columns))), tile);
                // The place of this CTA's own part stays empty.
                let parts = flat_product(held, layout!((CTAS, 2)));
                let out = overlay::<C>(out, parts)[(_, _, _, warpgroup)];
                let others = flat_product(held, layout!((CTAS - 1, 2)));
                let into = overlay::<C>(into, others)[(_, _, _, warpgroup)];
                let arrived = exchange.arrived[warpgroup];
                // The other warpgroup has multiplied its last stage, too.
                bar_sync(exchange.both, 256);
                let (thread, rank) = (warpgroup_thread(), self.rank);
                if thread < CTAS && thread != rank {
                    arrive_at(exchange.ready[warpgroup], thread);
                }
                let sum = fragment::<C>(wgmma_c(columns));
                for cta in 0..CTAS {
                    let part = local_tile(acc, (64, columns), (0, cta));
                    if rank == cta {
                        copy(part, sum);
                    } else {
                        copy(part, out[(_, _, cta)]);
                    }
                }
                fence_proxy_async();
                bar_sync(exchange.one + warpgroup, 128);
                if thread == 0 {
                    wait(exchange.ready[warpgroup], turn % 2);
                    expect_tx(arrived, bytes(into));
                    for cta in 0..CTAS {
                        if rank != cta {
                            let place = (rank + CTAS - cta - 1) % CTAS;
                            copy_async_at(out[(_, _, cta)], into[(_, _, place)], arrived, cta);
                        }
                    }
                }
                wait(arrived, turn % 2);
                let other = fragment::<C>(wgmma_c(columns));
                for place in 0..CTAS - 1 {
                    copy(into[(_, _, place)], other);
                    sum += other;
                }
                bar_sync(exchange.one + warpgroup, 128);
                if thread < CTAS && thread != rank {
                    arrive_at(exchange.read[warpgroup], thread);
                }
                (sum, rank * columns)
            } else {
                (acc, 0)
            }
        }

        /// Waits until the other CTAs have read the parts that `sum` sent. Before that a CTA must neither fill its stages nor end.
        /// All threads that called `sum` call this, with the same turn.
        pub fn release(&self, warpgroup: u32, turn: u32) {
            if let Some(exchange) = self.exchange {
                if warpgroup_thread() == 0 {
                    wait(exchange.read[warpgroup], turn % 2);
                    arrive(exchange.done[0]);
                }
            }
        }
    }
}
