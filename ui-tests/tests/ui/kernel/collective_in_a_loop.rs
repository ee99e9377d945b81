//! A loop that some threads leave earlier has nothing that all of them execute together; behind it, they are together again.

#[cute_runtime::kernels]
mod kernels {
    #[kernel(threads = 128)]
    pub unsafe fn strides(x: Global<u32, 1>, n: u32) {
        let mut sum = 0;
        let mut i = block_idx().0 * 128 + thread();
        while i < n {
            sum += redux_add(x[i]);
            i += 128 * grid_dim().0;
        }
        x[0] = sum;
    }

    #[kernel(threads = 128)]
    pub unsafe fn left(x: Global<u32, 1>) {
        loop {
            sync_threads();
            if x[thread()] == 0 {
                break;
            }
        }
    }

    #[kernel(threads = 128)]
    pub unsafe fn right(x: Global<u32, 1>, n: u32) {
        let mut sum = 0;
        let mut i = block_idx().0 * 128 + thread();
        while i < n {
            sum += x[i];
            i += 128 * grid_dim().0;
        }
        x[0] = redux_add(sum);
    }
}

fn main() {}
