#[cute_runtime::kernels]
mod kernels {
    #[kernel(threads = 32)]
    pub fn k(n: u32) {
        let known: usize = 3;
        let mut i: usize = 0;
    }
}

fn main() {}
