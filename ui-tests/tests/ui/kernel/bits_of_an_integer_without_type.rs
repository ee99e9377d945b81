#[cute_runtime::kernels]
mod kernels {
    #[kernel(threads = 32)]
    pub fn k() {
        let zeros = clz(5);
    }
}

fn main() {}
