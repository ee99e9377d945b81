#[cute_runtime::kernels]
mod kernels {
    #[kernel(threads = 32)]
    pub fn first() {
        sync_warps();
    }

    #[kernel(threads = 32)]
    pub fn second() {
        let y = unknown;
    }
}

fn main() {}
