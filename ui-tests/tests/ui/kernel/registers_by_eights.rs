#[cute_runtime::kernels]
mod kernels {
    #[kernel(threads = 128)]
    fn k() {
        setmaxnreg_dec(44);
    }
}

fn main() {}
