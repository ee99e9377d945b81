#[cute_runtime::kernels]
mod kernels {
    #[kernel(threads = 32)]
    pub fn k(n: u32) {
        let random = philox((n, n, n), (0, 1));
    }
}

fn main() {}
