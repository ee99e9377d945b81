#[cute_runtime::kernels]
mod kernels {
    const N: u32 = thread();
    const M: u32 = 1.5;

    #[kernel(threads = 32)]
    pub fn k(n: u32) {
        let a = N;
        let b = M;
    }
}

fn main() {}
