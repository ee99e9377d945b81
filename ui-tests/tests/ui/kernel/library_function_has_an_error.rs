mod library {
    #[cute_runtime::kernels]
    pub mod kernels {
        pub fn scaled(x: u32) -> u32 {
            let y = x + 1.0;
            y
        }

        pub fn called(f: impl Fn(u32) -> u32) -> u32 {
            f(1)
        }
    }
}

#[cute_runtime::kernels]
mod kernels {
    use super::library::kernels::{called, scaled};

    #[kernel(threads = 32)]
    pub fn k(n: u32) {
        let a = scaled(n);
        let b = called(|x| x + 1.0);
    }
}

fn main() {}
