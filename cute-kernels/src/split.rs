//! Sums over the CTAs of a cluster that have divided K.

/// The parts of the kernel language: import them into a module of kernels.
#[cute_runtime::kernels]
pub mod kernels {
    /// The CTAS CTAs of a cluster compute one tile: CTA r takes steps r, r + CTAS, … along K, and then the sums of part r of the
    /// columns. Warpgroups have 64 × N accumulators of type C each.
    ///
    /// The order of the summands is that of the CTAs, whichever of them comes first, so that results do not change from run to
    /// run.
    pub struct Split<C: Element, const CTAS: u32, const N: u32> {
        rank: u32,
    }

    impl<C: Element, const CTAS: u32, const N: u32> Split<C, CTAS, N> {
        /// The part of this CTA.
        pub fn new() -> Self {
            Self {
                rank: if CTAS == 1 { 0 } else { cluster_ctarank() },
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

        /// What threads that have no accumulators do in place of `sum`.
        pub fn pause(&self) {
            if CTAS > 1 {
                sync_cluster();
                sync_cluster();
            }
        }

        /// The sums of this CTA's part of the columns over all CTAs of the cluster, and the first of these columns. `turn` counts
        /// the calls before. The bytes of two tensors in shared memory, which no CTA reads or writes any more, are overwritten. All
        /// threads of the cluster call this or `pause`.
        pub fn sum(
            &self,
            acc: Fragment,
            warpgroup: u32,
            turn: u32,
            out: Tensor,
            into: Tensor,
        ) -> (Fragment, u32) {
            let arrived = mbarriers(2, 1)[warpgroup];
            // Values lie in shared memory as threads hold them.
            let columns = N / CTAS;
            let tile = layout!((64, columns));
            let held = composition(right_inverse(composition(tile, wgmma_c(columns))), tile);
            let all = flat_product(held, layout!((CTAS, 2)));
            let (out, into) = (overlay::<C>(out, all), overlay::<C>(into, all));
            sync_cluster();
            for cta in 0..CTAS {
                let part = local_tile(acc, (64, columns), (0, cta));
                if self.rank == cta {
                    copy(part, into[(_, _, cta, warpgroup)]);
                } else {
                    copy(part, out[(_, _, cta, warpgroup)]);
                }
            }
            fence_proxy_async();
            bar_sync(warpgroup + 1, 128);
            if warpgroup_thread() == 0 {
                expect_tx(arrived, (CTAS - 1) * bytes(out[(_, _, 0, 0)]));
                for cta in 0..CTAS {
                    if self.rank != cta {
                        let there = into[(_, _, self.rank, warpgroup)];
                        copy_async_at(out[(_, _, cta, warpgroup)], there, arrived, cta);
                    }
                }
            }
            wait(arrived, turn % 2);
            let sum = fragment::<C>(wgmma_c(columns));
            copy(into[(_, _, 0, warpgroup)], sum);
            for cta in 1..CTAS {
                let part = fragment::<C>(wgmma_c(columns));
                copy(into[(_, _, cta, warpgroup)], part);
                sum += part;
            }
            // The stages may be filled again, and this CTA may end.
            sync_cluster();
            (sum, self.rank * columns)
        }
    }
}
