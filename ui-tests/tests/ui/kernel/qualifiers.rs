//! Qualifiers before `fn` mean the same as in Rust, or are an error.

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
