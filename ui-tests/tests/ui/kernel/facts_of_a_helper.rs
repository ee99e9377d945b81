//! Facts belong to the parameters of kernels, whose launches check them.

#[cute_runtime::kernels]
mod kernels {
    #[kernel(threads = 32)]
    pub fn caller(n: u32) {
        helper(n);
    }

    fn helper(#[facts(n % 4 == 0)] n: u32) {}
}

fn main() {}
