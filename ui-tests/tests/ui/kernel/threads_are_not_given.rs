#[cute_runtime::kernels]
mod kernels {
    #[kernel()]
    pub fn k() {}
}

fn main() {}
