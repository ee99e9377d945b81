#[cute_runtime::kernels]
mod kernels {
    fn scale<const N: u32>(x: u32) -> u32 {
        x * N
    }

    #[kernel(threads = 32)]
    pub fn k(x: u32) {
        let y = scale(x);
    }
}

fn main() {}
