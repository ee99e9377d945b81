#[cute_runtime::kernels]
mod kernels {
    #[kernel(threads = 32)]
    pub fn k(n: u32) {
        let root = sqrt(n);
    }
}

fn main() {}
