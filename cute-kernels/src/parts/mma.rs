//! Products of tiles by warpgroups.

/// The parts of the kernel language: import them into a module of kernels.
#[cute_runtime::kernels]
pub mod kernels {
    /// A product of tiles by warpgroups. Each has M rows, a multiple of 64, and all N columns, summed up in elements of type C.
    pub struct TiledMma<C: Element, const M: u32, const N: u32> {
        /// The number of this warpgroup among the warpgroups that multiply.
        index: u32,
        /// The rows of a block of 64, in the order in which wgmma has them.
        rows: Layout,
    }

    impl<C: Element, const M: u32, const N: u32> TiledMma<C, M, N> {
        /// The part of the product for warpgroup number `index` of those that multiply.
        pub fn new(index: u32) -> Self {
            let rows = layout!((64):(1@0));
            Self { index, rows }
        }

        /// The same for elements of 32 bits with A contiguous along M, which wgmma takes from registers alone.
        pub fn from_registers(index: u32) -> Self {
            // The threads of a warp read eight rows in four columns of A at a time. The rows differ in their lowest two bits, which
            // number the four words of a vector of 16 bytes, and in the fifth. The columns swizzle the third and the fourth. So the
            // threads read 32 banks.
            let rows = layout!((4,2,2,2,2):(1@0,16@0,4@0,8@0,32@0));
            let rows = group(rows, 0, 5);
            Self { index, rows }
        }

        /// The accumulators of this warpgroup.
        pub fn fragment_c(&self) -> Fragment {
            let parts: u32 = ceil_div(N, 256);
            fragment::<C>(self.held(wgmma_c(N / parts), N / parts, parts))
        }

        /// The rows of A that this warpgroup multiplies, with `k` columns, in registers.
        pub fn fragment_a<T: Element>(&self, k: u32) -> Fragment {
            fragment::<T>(self.held(wgmma_a::<T>(k), k, 1))
        }

        /// The layout from (thread, value) to coordinates of all rows, with `parts` times `columns` columns. `one` is the layout for
        /// 64 rows and one part of wgmma.
        fn held(&self, one: Layout, columns: u32, parts: u32) -> Layout {
            let order = append(self.rows, layout!((columns):(1@1)));
            let blocks = M / 64;
            let all = append(composition(order, one), layout!((blocks):(64@0)));
            if parts == 1 {
                group(all, 1, 3)
            } else {
                group(append(all, layout!((parts):(columns@1))), 1, 4)
            }
        }

        /// The rows of A that this warpgroup multiplies, of a tensor in shared memory or a tile of global memory.
        pub fn partition_a(&self, a: _) -> _ {
            local_tile(a, (M, size(get(a, 1))), (self.index, 0))
        }

        /// The rows of D that this warpgroup computes, of a tensor in shared memory or a tile of global memory. `copy` between
        /// these and the accumulators moves the values of each thread.
        pub fn partition_c(&self, d: _) -> _ {
            local_tile(d, (M, N), (self.index, 0))
        }

        /// Starts acc = a · bᵀ, plus the old acc if `accumulate` is true, as a batch of wgmma. `a` has this warpgroup's rows, in
        /// shared memory or in registers.
        pub fn gemm(&self, acc: Fragment, a: _, b: Tensor, accumulate: bool) {
            wgmma_fence();
            let parts: u32 = ceil_div(N, 256);
            let k = size(get(b, 1));
            if M == 64 && parts == 1 {
                wgmma(acc, a, b, accumulate);
            } else {
                let columns = N / parts;
                for i in 0..M / 64 {
                    let rows = local_tile(a, (64, k), (i, 0));
                    for j in 0..parts {
                        let part = local_tile(acc, (64, columns), (i, j));
                        wgmma(part, rows, local_tile(b, (columns, k), (j, 0)), accumulate);
                    }
                }
            }
            wgmma_commit();
        }
    }
}
