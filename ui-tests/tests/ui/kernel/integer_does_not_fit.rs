#[cute_runtime::kernels]
mod kernels {
    #[kernel(threads = 32)]
    pub fn k(x: u32) {
        let y = x + 5000000000;
    }
}

fn main() {}
