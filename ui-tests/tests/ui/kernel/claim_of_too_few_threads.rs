//! `uniform(x)` claims that the lanes of a warp agree, which says nothing of other warps.

#[cute_runtime::kernels]
mod kernels {
    #[kernel(threads = 128)]
    pub unsafe fn wrong(x: Global<u32, 1>) {
        if uniform(x[thread()] > 0) {
            sync_threads();
        }
    }

    #[kernel(threads = 128)]
    pub unsafe fn right(x: Global<u32, 1>) {
        if uniform(x[thread()] > 0, CTA) {
            sync_threads();
        }
    }
}

fn main() {}
