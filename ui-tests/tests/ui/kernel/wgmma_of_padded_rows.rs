#[cute_runtime::kernels]
mod kernels {
    #[kernel(threads = 128)]
    fn k() {
        let a = smem::<bf16>(layout!((64,64):(72,1)));
        let acc = fragment::<f32>(wgmma_c(64));
        wgmma(acc, a, a, false);
    }
}

fn main() {}
