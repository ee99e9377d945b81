#[cute_runtime::kernels]
mod kernels {
    #[kernel(threads = 128)]
    fn k() {
        let full = mbarriers(4, 1);
        wait(full, 0);
    }
}

fn main() {}
