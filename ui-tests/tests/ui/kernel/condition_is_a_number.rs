#[cute_runtime::kernels]
mod kernels {
    #[kernel(threads = 32)]
    pub fn k(x: u32) {
        if x {
            sync_threads();
        }
    }
}

fn main() {}
