#[cute_runtime::kernels]
mod kernels {
    #[kernel(threads = 32)]
    #[instance(small: BM = 64, BK = 32)]
    pub fn k<const BM: u32>() {}
}

fn main() {}
