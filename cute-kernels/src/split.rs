//! Sums over the CTAs of a cluster that have divided K.

/// The parts of the kernel language: import them into a module of kernels.
#[cute_runtime::kernels]
pub mod kernels {
    /// The CTAS CTAs of a cluster, one or two, compute one tile: CTA r takes steps r, r + CTAS, … along K, and then the sums of part r
    /// of the columns. Warpgroups have 64 × N accumulators of type C each.
    pub struct Split<C: Element, const CTAS: u32, const N: u32> {
        rank: u32,
        exchange: Option<Exchange>,
    }

    /// Barriers of two CTAs that give each other half of their accumulators: two of each kind, one for each warpgroup, but for `done`.
    struct Exchange {
        /// The other CTA has read all its stages, so that it can receive.
        ready: Barriers,
        /// What comes from the other CTA has arrived.
        arrived: Barriers,
        /// The other CTA has read what came from here.
        read: Barriers,
        /// The stages of this CTA can be filled again.
        done: Barriers,
    }

    impl<C: Element, const CTAS: u32, const N: u32> Split<C, CTAS, N> {
        /// The part of this CTA.
        pub fn new() -> Self {
            assert!(CTAS <= 2, "K is divided by {CTAS} CTAs, and two can add up");
            if CTAS == 1 {
                Self {
                    rank: 0,
                    exchange: None,
                }
            } else {
                Self {
                    rank: cluster_ctarank(),
                    exchange: Some(Exchange {
                        ready: mbarriers(2, 1),
                        arrived: mbarriers(2, 1),
                        read: mbarriers(2, 1),
                        done: mbarriers(1, 2),
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

        /// What the thread that fills stages does after those of a tile, of which it has filled `turn` before.
        pub fn pause(&self, turn: u32) {
            if let Some(exchange) = self.exchange {
                wait(exchange.done[0], turn % 2);
            }
        }

        /// The sums of this CTA's part of the columns, and the first of these columns. `turn` counts the calls before. The bytes of two
        /// tensors in shared memory, which neither TMA nor this warpgroup still uses, are overwritten until `release`. All threads of
        /// warpgroup number `warpgroup`, 0 or 1, of both CTAs call this.
        ///
        /// Each sum has two summands, so results do not depend on which CTA comes first.
        pub fn sum(
            &self,
            acc: Fragment,
            warpgroup: u32,
            turn: u32,
            out: Tensor,
            into: Tensor,
        ) -> (Fragment, u32) {
            if let Some(exchange) = self.exchange {
                // Values lie in shared memory as threads hold them.
                let tile = layout!((64, N / 2));
                let held = composition(right_inverse(composition(tile, wgmma_c(N / 2))), tile);
                let both = flat_product(held, layout!((2)));
                let out = overlay::<C>(out, both)[(_, _, warpgroup)];
                let into = overlay::<C>(into, both)[(_, _, warpgroup)];
                let (arrived, peer) = (exchange.arrived[warpgroup], 1 - self.rank);
                // The other warpgroup has multiplied its last stage, too.
                bar_sync(3, 256);
                if warpgroup_thread() == 0 {
                    arrive_at(exchange.ready[warpgroup], peer);
                }
                let sum = fragment::<C>(wgmma_c(N / 2));
                for cta in 0..CTAS {
                    let part = local_tile(acc, (64, N / 2), (0, cta));
                    if self.rank == cta {
                        copy(part, sum);
                    } else {
                        copy(part, out);
                    }
                }
                fence_proxy_async();
                bar_sync(warpgroup + 1, 128);
                if warpgroup_thread() == 0 {
                    wait(exchange.ready[warpgroup], turn % 2);
                    expect_tx(arrived, bytes(into));
                    copy_async_at(out, into, arrived, peer);
                }
                wait(arrived, turn % 2);
                let other = fragment::<C>(wgmma_c(N / 2));
                copy(into, other);
                bar_sync(warpgroup + 1, 128);
                if warpgroup_thread() == 0 {
                    arrive_at(exchange.read[warpgroup], peer);
                }
                (sum + other, self.rank * (N / 2))
            } else {
                (acc, 0)
            }
        }

        /// Waits until the other CTA has read what `sum` sent: a CTA must neither fill its stages nor end before. All threads that called
        /// `sum` call this, with the same turn.
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
