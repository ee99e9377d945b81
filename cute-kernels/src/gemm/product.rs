//! The kernel, and its instances.

/// The kernels, and what they are made of.
#[cute_runtime::kernels]
pub mod kernels {
    use crate::epilogue::kernels::{
        store_by_element, store_pieces_by_tma, store_transposed_by_tma,
    };
    use crate::gemm::config::kernels::*;
    use crate::gemm::multiply::kernels::{multiply, tiles};
    use crate::tile_scheduler::kernels::place;

    /// The products of a batch of matrices, with D stored by TMA: rows of D start at multiples of 16 bytes and are multiples of 16
    /// bytes long. All types have the largest tiles and two small ones, and all but `e5m2` and `u8` have more. Elements of 16 bits
    /// also have tiles for matrices along M or N, and elements of 32 bits for one such matrix.
    #[kernel(threads = 384, cluster = (CFG.cluster_m * CFG.cluster_n * CFG.split, 1, 1))]
    #[instances(
        (A, B, D) in [
            #[cfg(feature = "core")] (bf16, bf16, bf16),
            #[cfg(feature = "core")] (bf16, bf16, f32),
            #[cfg(feature = "f16")] (f16, f16, f16),
            #[cfg(feature = "f16")] (f16, f16, f32),
            #[cfg(feature = "f32")] (tf32, tf32, f32),
            #[cfg(feature = "f8-i8")] (i8, i8, i32),
            #[cfg(feature = "f8-i8")] (e4m3, e4m3, bf16),
            #[cfg(feature = "f8-i8")] (e4m3, e4m3, f32),
            #[cfg(feature = "mixed")] (i8, u8, i32),
            #[cfg(feature = "mixed")] (u8, i8, i32),
            #[cfg(feature = "mixed")] (u8, u8, i32),
            #[cfg(feature = "mixed")] (e4m3, e5m2, bf16),
            #[cfg(feature = "mixed")] (e4m3, e5m2, f32),
            #[cfg(feature = "mixed")] (e5m2, e4m3, bf16),
            #[cfg(feature = "mixed")] (e5m2, e4m3, f32),
            #[cfg(feature = "mixed")] (e5m2, e5m2, bf16),
            #[cfg(feature = "mixed")] (e5m2, e5m2, f32),
        ],
        CFG in [SINGLE, PAIR, NARROW_IN_TURNS, THIN],
    )]
    #[instances(
        (A, B, D) in [
            #[cfg(feature = "core")] (bf16, bf16, bf16),
            #[cfg(feature = "core")] (bf16, bf16, f32),
            #[cfg(feature = "f16")] (f16, f16, f16),
            #[cfg(feature = "f16")] (f16, f16, f32),
            #[cfg(feature = "f32")] (tf32, tf32, f32),
            #[cfg(feature = "f8-i8")] (i8, i8, i32),
            #[cfg(feature = "f8-i8")] (e4m3, e4m3, bf16),
            #[cfg(feature = "f8-i8")] (e4m3, e4m3, f32),
        ],
        CFG in [
            WIDE, BROAD, OBLONG, SQUARE_PAIR, MEDIUM, MEDIUM_112, SMALL, FEW, WHOLE_96, SQUARE_2, NARROW_2, THIN_4, THIN_8,
            THIN_PAIR, SWAPPED, SWAPPED_112, SWAPPED_THIN, SWAPPED_80, SWAPPED_THIN_80,
        ],
    )]
    #[instances(
        cfg(feature = "majors"),
        (A, B, D) in [
            #[cfg(feature = "core")] (bf16, bf16, bf16),
            #[cfg(feature = "core")] (bf16, bf16, f32),
            #[cfg(feature = "f16")] (f16, f16, f16),
            #[cfg(feature = "f16")] (f16, f16, f32),
        ],
        CFG in [
            SINGLE_NN, SINGLE_NT, SINGLE_TT, PAIR_NN, SQUARE_NN, SQUARE_NT, SQUARE_TT, NARROW_NN, NARROW_NT, NARROW_TT,
            THIN_NN, THIN_NT, THIN_TT, FEW_TT, WHOLE_TT,
        ],
    )]
    #[instances(
        cfg(all(feature = "majors", feature = "f32")),
        (A, B, D) in [(tf32, tf32, f32)],
        CFG in [
            SINGLE_NN, PAIR_NN, OBLONG_NN, NARROW_NN, SINGLE_SWAPPED, PAIR_SWAPPED, OBLONG_SWAPPED, NARROW_SWAPPED,
        ],
    )]
    pub fn gemm<A: Element, B: Element, D: Element, const CFG: Config>(
        a: TmaLoad<A, 3>,
        b: TmaLoad<B, 3>,
        d: TmaStore<D, 3>,
        batches: u32,
        m: u32,
        n: u32,
        k: u32,
    ) {
        gemm_with::<_, _, _, CFG>(a, b, d, (batches, m, n, k), |x, _| x);
    }

    /// D = `epilogue` of each element of A · Bᵀ and its coordinate, stored by TMA. If the extents of D are not multiples of a
    /// tile's, it is also called for elements outside of D, and these results are discarded.
    ///
    /// Matrices have two modes: `extents` is (m, n, k), and coordinates are (row, column). Batches of matrices have three:
    /// `extents` is (batches, m, n, k), and coordinates are (batch, row, column). Elements of B have A's type, or another type
    /// that wgmma multiplies by it, such as `e5m2` for `e4m3`.
    ///
    /// With `CFG.swapped`, D is (A · Bᵀ)ᵀ with n × m elements, and coordinates are in D.
    pub fn gemm_with<T: Element, D: Element, const R: u32, const CFG: Config>(
        a: TmaLoad<T, R>,
        b: TmaLoad<_, R>,
        d: TmaStore<D, R>,
        extents: _,
        epilogue: impl Fn(T::Accumulator, _) -> T::Accumulator,
    ) {
        if thread() == 0 {
            tma_prefetch_map(d);
        }
        let (batches, m, n, k) = if R == 2 {
            (1, extents.0, extents.1, extents.2)
        } else {
            extents
        };
        let tiles = tiles::<CFG>(batches, m, n);
        multiply::<_, _, _, CFG>(a, b, tiles, k, |acc, consumer, (batch, row, column), _| {
            let result = map(acc, |x, (i, j)| {
                let at = if CFG.swapped {
                    (column + j, row + i)
                } else {
                    (row + i, column + j)
                };
                epilogue(x, place::<R>(batch, at.0, at.1))
            });
            if CFG.swapped {
                store_transposed_by_tma(result, d, consumer, (batch, row, column));
            } else {
                let at = (batch, row, column);
                store_pieces_by_tma(result, |piece, _| piece, d, consumer, at, CFG.lines);
            }
        });
        // A CTA must not end while TMA still reads its shared memory.
        tma_wait_read(0);
    }

    /// The products of a batch of matrices, with D stored element by element, where the element lies inside D: rows of D may have any
    /// stride and any alignment. All types have the largest tile, and all without `e5m2` and `u8` two smaller ones, too.
    #[kernel(threads = 384, cluster = (CFG.cluster_m * CFG.cluster_n * CFG.split, 1, 1))]
    #[instances(
        (A, B, D) in [
            #[cfg(feature = "core")] (bf16, bf16, bf16),
            #[cfg(feature = "core")] (bf16, bf16, f32),
            #[cfg(feature = "f16")] (f16, f16, f16),
            #[cfg(feature = "f16")] (f16, f16, f32),
            #[cfg(feature = "f32")] (tf32, tf32, f32),
            #[cfg(feature = "f8-i8")] (i8, i8, i32),
            #[cfg(feature = "f8-i8")] (e4m3, e4m3, bf16),
            #[cfg(feature = "f8-i8")] (e4m3, e4m3, f32),
            #[cfg(feature = "mixed")] (i8, u8, i32),
            #[cfg(feature = "mixed")] (u8, i8, i32),
            #[cfg(feature = "mixed")] (u8, u8, i32),
            #[cfg(feature = "mixed")] (e4m3, e5m2, bf16),
            #[cfg(feature = "mixed")] (e4m3, e5m2, f32),
            #[cfg(feature = "mixed")] (e5m2, e4m3, bf16),
            #[cfg(feature = "mixed")] (e5m2, e4m3, f32),
            #[cfg(feature = "mixed")] (e5m2, e5m2, bf16),
            #[cfg(feature = "mixed")] (e5m2, e5m2, f32),
        ],
        CFG in [PAIR],
    )]
    #[instances(
        (A, B, D) in [
            #[cfg(feature = "core")] (bf16, bf16, bf16),
            #[cfg(feature = "core")] (bf16, bf16, f32),
            #[cfg(feature = "f16")] (f16, f16, f16),
            #[cfg(feature = "f16")] (f16, f16, f32),
            #[cfg(feature = "f32")] (tf32, tf32, f32),
            #[cfg(feature = "f8-i8")] (i8, i8, i32),
            #[cfg(feature = "f8-i8")] (e4m3, e4m3, bf16),
            #[cfg(feature = "f8-i8")] (e4m3, e4m3, f32),
        ],
        CFG in [NARROW_IN_TURNS, THIN],
    )]
    pub fn gemm_unaligned<A: Element, B: Element, D: Element, const CFG: Config>(
        a: TmaLoad<A, 3>,
        b: TmaLoad<B, 3>,
        d: Global<D, 3>,
        batches: u32,
        m: u32,
        n: u32,
        k: u32,
    ) {
        let tiles = tiles::<CFG>(batches, m, n);
        multiply::<_, _, _, CFG>(a, b, tiles, k, |acc, _, at, _| {
            store_by_element(acc, d, at);
        });
    }
}
