#[cute_runtime::kernels]
mod kernels {
    #[kernel(threads = 32)]
    pub fn k() {
        let counts = smem::<u16>(4);
        atomic_add(counts, 0, 1);
    }
}

fn main() {}
