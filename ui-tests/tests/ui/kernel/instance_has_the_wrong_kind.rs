#[cute_runtime::kernels]
mod kernels {
    #[kernel(threads = 32)]
    #[instance(small: T = 64)]
    pub fn k<T: Element>() {}
}

fn main() {}
