#[cute_runtime::kernels]
mod kernels {
    #[kernel(threads = 128)]
    fn k() {
        let x = fragment::<f32>(wgmma_c(64));
        x.fill(0.0);
        let y = redistribute(x, wgmma_c(32));
    }
}

fn main() {}
