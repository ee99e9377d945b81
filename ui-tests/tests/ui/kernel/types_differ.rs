#[cute_runtime::kernels]
mod kernels {
    #[kernel(threads = 32)]
    pub fn k(x: u32, y: u64) {
        let z = x + y;
    }
}

fn main() {}
