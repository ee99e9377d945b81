#[cute_runtime::kernels]
mod kernels {
    #[kernel(threads = 32)]
    pub fn k() {
        sync_thread();
    }
}

fn main() {}
