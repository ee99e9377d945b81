#[cute_runtime::kernels]
mod kernels {
    #[kernel(threads = 32)]
    pub fn k(n: u32) {
        #[unroll]
        for i in 0..n {}
        #[unroll(100)]
        for i in 0..n {}
        #[inline]
        for i in 0..n {}
        #[unroll(2)]
        for x in [1, 2, 3] {}
    }
}

fn main() {}
