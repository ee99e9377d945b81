#[cute_runtime::kernels]
mod kernels {
    fn half(x: u32) -> u32 {
        half(x / 2)
    }

    #[kernel(threads = 32)]
    pub fn k(x: u32) {
        let y = half(x);
    }
}

fn main() {}
