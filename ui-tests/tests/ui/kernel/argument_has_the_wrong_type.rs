#[cute_runtime::kernels]
mod kernels {
    fn store(t: Tensor, x: u32) {
        t[0] = x;
    }

    #[kernel(threads = 32)]
    pub fn k(x: u32) {
        store(x, x);
    }
}

fn main() {}
