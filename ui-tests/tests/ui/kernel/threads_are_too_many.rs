#[cute_runtime::kernels]
mod kernels {
    #[kernel(threads = 2048)]
    pub fn k() {}
}

fn main() {}
