#[cute_runtime::kernels]
mod kernels {
    #[kernel(threads = 128)]
    fn k() {
        let x = fragment::<f32>(wgmma_c(64));
        let y = fragment::<f32>(wgmma_c(32));
        let z = x + y;
    }
}

fn main() {}
