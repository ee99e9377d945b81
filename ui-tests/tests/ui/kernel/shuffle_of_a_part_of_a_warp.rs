#[cute_runtime::kernels]
mod kernels {
    #[kernel(threads = 48)]
    pub fn k(n: u32) {
        let before = shfl_up(n, 1);
    }
}

fn main() {}
