#[cute_runtime::kernels]
mod kernels {
    #[kernel(threads = 32)]
    pub fn k() {
        for i in 0..1000000 {}
    }
}

fn main() {}
