mod library {
    #[cute_runtime::kernels]
    pub mod kernels {
        pub const N: u32 = 4;

        #[kernel(threads = 2048)]
        pub fn k(n: u32) {}
    }
}

#[cute_runtime::kernels]
mod kernels {
    use super::library::kernels::N;

    #[kernel(threads = N)]
    pub fn k(n: u32) {}
}

fn main() {
    let _ = kernels::k;
}
