//! Products by tiles that are not compiled ahead: their kernels are made when a plan asks for them.

/// The kernel, for types and sizes that are given when the program runs.
#[cute_runtime::kernels]
pub mod kernels {
    use crate::gemm::kernel::kernels::products;
    use crate::parts::config::kernels::Config;

    /// As `gemm`.
    #[kernel(threads = 384, cluster = (CFG.cluster_m * CFG.cluster_n * CFG.split, 1, 1))]
    #[instance(gemm_of: A = _, B = _, D = _, CFG = _)]
    pub fn gemm_made<A: Element, B: Element, D: Element, const CFG: Config>(
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
}
