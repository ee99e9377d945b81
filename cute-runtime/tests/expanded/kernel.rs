//! A crate that is expanded, and a module of the test that reads the expansion.

/// A kernel with a label, a string in its PTX (the file of its source) and a comment.
#[cute_runtime::kernels]
pub mod kernels {
    /// y = 2·x.
    #[kernel(threads = 32)]
    #[instances(T in [f32, u32])]
    pub fn double<T: Element>(
        x: Global<T, 1>,
        #[facts(extent(y, 0) == extent(x, 0))] y: Global<T, 1>,
    ) {
        let i = 32 * block_idx().0 + thread();
        if i < extent(x, 0) {
            y[i] = x[i] + x[i];
        }
    }
}
