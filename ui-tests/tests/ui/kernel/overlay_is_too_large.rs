#[cute_runtime::kernels]
mod kernels {
    #[kernel(threads = 128)]
    fn k() {
        let tile = smem::<f32>((64, 32));
        let wider = overlay::<f64>(tile, (64, 32));
    }
}

fn main() {}
