//! What several threads execute together stands where all of them come: a warp, a warpgroup, or the CTA.

#[cute_runtime::kernels]
mod kernels {
    #[kernel(threads = 256)]
    pub fn by_lane(x: TmaLoad<f32, 1>) {
        if thread() < 16 {
            sync_threads();
        }
    }

    #[kernel(threads = 256)]
    pub unsafe fn by_data(x: Global<u32, 1>) {
        match x[thread()] {
            0 => x[0] = redux_add(thread()),
            _ => {}
        }
    }

    #[kernel(threads = 256)]
    pub fn by_warp() {
        if warp() == 1 {
            wgmma_fence();
        }
    }

    #[kernel(threads = 256)]
    pub unsafe fn right(x: Global<u32, 1>, n: u32) {
        if n < 16 {
            sync_threads();
        }
        if thread() < 64 {
            x[0] = redux_add(thread());
        }
        if warpgroup() == 1 {
            wgmma_fence();
        }
    }
}

fn main() {}
