#[cute_runtime::kernels]
mod kernels {
    #[kernel(threads = 32)]
    pub fn k() {
        let ready = mbarriers(1);
    }
}

fn main() {}
