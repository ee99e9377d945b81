#[cute_runtime::kernels]
mod kernels {
    #[kernel(threads = 128)]
    fn k() {
        let x = fragment::<f32>(wgmma_c(64));
        let sums = reduce(x, 2, add);
    }
}

fn main() {}
