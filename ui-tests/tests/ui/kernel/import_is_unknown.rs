mod library {
    #[cute_runtime::kernels]
    pub mod kernels {
        fn private(x: u32) -> u32 {
            x
        }

        pub fn public(x: u32) -> u32 {
            private(x)
        }
    }
}

#[cute_runtime::kernels]
mod kernels {
    use super::library::kernels::{private, public};

    #[kernel(threads = 32)]
    pub fn k(n: u32) {
        let a = public(n);
    }
}

fn main() {}
