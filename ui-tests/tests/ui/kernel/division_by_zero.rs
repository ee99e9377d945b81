#[cute_runtime::kernels]
mod kernels {
    #[kernel(threads = 32)]
    #[instance(k0: N = 4)]
    pub fn k<const N: u32>(x: u32) {
        let y = x / (N - 4);
    }
}

fn main() {}
