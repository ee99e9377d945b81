//! Lanes that have left do not take part in a shuffle: threads without an element go on with a value that changes nothing.

#[cute_runtime::kernels]
mod kernels {
    #[kernel(threads = 128)]
    pub unsafe fn wrong(x: Global<f32, 1>, y: Global<f32, 1>, n: u32) {
        let i = block_idx().0 * 128 + thread();
        if i >= n {
            return;
        }
        y[i] = x[i] + shfl_down(x[i], 1);
    }

    #[kernel(threads = 128)]
    pub unsafe fn right(x: Global<f32, 1>, y: Global<f32, 1>, n: u32) {
        let i = block_idx().0 * 128 + thread();
        let mine = if i < n { x[i] } else { 0.0 };
        let sum = mine + shfl_down(mine, 1);
        if i < n {
            y[i] = sum;
        }
    }
}

fn main() {}
