//! Products of tiles by warpgroups.

/// The parts of the kernel language: import them into a module of kernels.
#[cute_runtime::kernels]
pub mod kernels {
    /// A product of tiles in shared memory by warpgroups, each of which has M rows, a multiple of 64, and all N columns, summed up in
    /// elements of type C.
    pub struct TiledMma<C: Element, const M: u32, const N: u32> {
        /// The number of this warpgroup among those that multiply.
        index: u32,
    }

    impl<C: Element, const M: u32, const N: u32> TiledMma<C, M, N> {
        /// The product as warpgroup number `index` of those that multiply computes it.
        pub fn new(index: u32) -> Self {
            Self { index }
        }

        /// The accumulators of this warpgroup.
        pub fn fragment_c(&self) -> Fragment {
            let blocks = M / 64;
            let held = append(wgmma_c(N), layout!((blocks):(64@0)));
            fragment::<C>(group(held, 1, 3))
        }

        /// The rows of A that this warpgroup multiplies.
        pub fn partition_a(&self, a: Tensor) -> Tensor {
            local_tile(a, (M, size(get(a, 1))), (self.index, 0))
        }

        /// The rows of D that this warpgroup computes.
        pub fn partition_c(&self, d: Tensor) -> Tensor {
            local_tile(d, (M, N), (self.index, 0))
        }

        /// Starts acc = a · bᵀ, plus the old acc if `accumulate` is true, as a batch of wgmma. `a` has this warpgroup's rows, in
        /// shared memory or, if they are 64, in registers.
        pub fn gemm(&self, acc: Fragment, a: _, b: Tensor, accumulate: bool) {
            wgmma_fence();
            if M == 64 {
                wgmma(acc, a, b, accumulate);
            } else {
                for i in 0..M / 64 {
                    let rows = local_tile(a, (64, size(get(a, 1))), (i, 0));
                    wgmma(local_tile(acc, (64, N), (i, 0)), rows, b, accumulate);
                }
            }
            wgmma_commit();
        }
    }
}
