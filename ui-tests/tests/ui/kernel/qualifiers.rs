//! What stands in front of `fn` means to a kernel what it means to Rust, or is refused.

#[cute_runtime::kernels]
mod kernels {
    #[kernel(threads = 32)]
    pub async fn waits() {}

    #[kernel(threads = 32)]
    pub const fn known() {}

    #[kernel(threads = 32)]
    pub extern "C" fn foreign() {
        helper();
    }

    unsafe fn helper() {}
}

fn main() {}
