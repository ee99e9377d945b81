//! The kernel of products, and its instances.

/// The kernels, and what they are made of.
#[cute_runtime::kernels]
pub mod kernels {
    use crate::parts::config::kernels::Config;
    use crate::parts::epilogue::store::kernels::{finish_stores, store_tile};
    use crate::parts::mainloop::kernels::{multiply, multiply_parts, tiles};
    use crate::parts::tiles::kernels::place;
    use crate::product::table::kernels::{
        BY_ELEMENT, COMMON, MAJORS, ONE_MAJOR, TILES, TILES_BY_8,
    };

    /// The products of a batch of matrices. D is stored by TMA, unless `CFG.by_element`: then its rows have any stride and any alignment.
    /// If K has several parts, matrix `i · parts + p` of D is the product of part p of matrix i.
    #[kernel(threads = 384, cluster = (CFG.cluster_m * CFG.cluster_n * CFG.split, 1, 1))]
    #[instances(
        (A, B, D) in [
            #[cfg(feature = "core")] (bf16, bf16, bf16),
            #[cfg(feature = "core")] (bf16, bf16, f32),
            #[cfg(feature = "f16")] (f16, f16, f16),
            #[cfg(feature = "f16")] (f16, f16, f32),
            #[cfg(feature = "f32")] (tf32, tf32, f32),
            #[cfg(feature = "f8-i8")] (e4m3, e4m3, bf16),
            #[cfg(feature = "f8-i8")] (e4m3, e4m3, f32),
        ],
        CFG in [..TILES, ..TILES_BY_8],
    )]
    #[instances(cfg(feature = "f8-i8"), (A, B, D) in [(i8, i8, i32)], CFG in TILES)]
    #[instances(
        cfg(feature = "mixed"),
        (A, B, D) in [
            (i8, u8, i32),
            (u8, i8, i32),
            (u8, u8, i32),
            (e4m3, e5m2, bf16),
            (e4m3, e5m2, f32),
            (e5m2, e4m3, bf16),
            (e5m2, e4m3, f32),
            (e5m2, e5m2, bf16),
            (e5m2, e5m2, f32),
        ],
        CFG in COMMON,
    )]
    #[instances(
        cfg(feature = "majors"),
        (A, B, D) in [
            #[cfg(feature = "core")] (bf16, bf16, bf16),
            #[cfg(feature = "core")] (bf16, bf16, f32),
            #[cfg(feature = "f16")] (f16, f16, f16),
            #[cfg(feature = "f16")] (f16, f16, f32),
        ],
        CFG in MAJORS,
    )]
    #[instances(
        cfg(all(feature = "majors", feature = "f32")),
        (A, B, D) in [(tf32, tf32, f32)],
        CFG in ONE_MAJOR,
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
        CFG in BY_ELEMENT,
    )]
    pub fn gemm<A: Element, B: Element, D: Element, const CFG: Config>(
        a: TmaLoad<A, 3>,
        b: TmaLoad<B, 3>,
        d: Store<D, 3, { !CFG.by_element }>,
        batches: u32,
        m: u32,
        n: u32,
        k: u32,
        parts: u32,
    ) {
        products::<_, _, CFG>(a, b, d, (batches, m, n, k), parts);
    }

    /// What `gemm` computes.
    pub fn products<A: Element, B: Element, const CFG: Config>(
        a: TmaLoad<A, 3>,
        b: TmaLoad<B, 3>,
        d: _,
        (batches, m, n, k): (u32, u32, u32, u32),
        parts: u32,
    ) {
        let tiles = tiles::<CFG>(batches * parts, m, n);
        multiply_parts::<_, _, _, CFG>(a, b, tiles, k, parts, |acc, consumer, at, _| {
            store_tile::<_, _, _, CFG>(acc, |piece, _, _| piece, d, consumer, at);
        });
        finish_stores::<CFG>();
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
            store_tile::<_, _, _, CFG>(
                result,
                |piece, _, _| piece,
                d,
                consumer,
                (batch, row, column),
            );
        });
        finish_stores::<CFG>();
    }
}
