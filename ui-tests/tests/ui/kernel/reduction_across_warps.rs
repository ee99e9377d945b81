#[cute_runtime::kernels]
mod kernels {
    #[kernel(threads = 256)]
    fn k() {
        let x = fragment::<f32>(wgmma_c(64));
        let largest = reduce(x, 0, max);
    }
}

fn main() {}
