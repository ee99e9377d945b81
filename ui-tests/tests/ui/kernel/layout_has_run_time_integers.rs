//! Layouts in kernels must not have run-time integers.

use cute_runtime::{kernels, layout};

layout! { L = (m,4):(4,1); }

#[kernels]
mod sums {
    #[kernel(threads = 32)]
    pub unsafe fn sum(out: Global<u32, 1>) {
        out[thread()] = layout!(L).at(thread());
    }
}

fn main() {}
