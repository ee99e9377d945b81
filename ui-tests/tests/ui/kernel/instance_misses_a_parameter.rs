#[cute_runtime::kernels]
mod kernels {
    #[kernel(threads = 32)]
    #[instance(small: BM = 64)]
    pub fn k<const BM: u32, const BN: u32>() {}
}

fn main() {}
