#[cute_runtime::kernels]
mod kernels {
    #[kernel(threads = 32)]
    #[instance(k5: N = 5)]
    pub fn k<const N: u32>() {
        let l = layout!((N,3):(1,10) o 6:2);
    }
}

fn main() {}
