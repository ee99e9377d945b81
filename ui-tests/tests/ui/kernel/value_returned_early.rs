#[cute_runtime::kernels]
mod kernels {
    fn f(x: u32) -> u32 {
        if x == 0 {
            return 1.0;
        }
        x
    }

    #[kernel(threads = 32)]
    pub fn k(x: u32) {
        let y = f(x);
    }
}

fn main() {}
