#[cute_runtime::kernels]
mod kernels {
    #[kernel(threads = 384)]
    fn k() {
        if warpgroup() == 0 {
            setmaxnreg_dec(40);
        } else {
            setmaxnreg_inc(240);
        }
    }
}

fn main() {}
