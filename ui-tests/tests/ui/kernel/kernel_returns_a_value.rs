#[cute_runtime::kernels]
mod kernels {
    #[kernel(threads = 32)]
    pub fn k(x: u32) -> u32 {
        x + 1
    }
}

fn main() {}
