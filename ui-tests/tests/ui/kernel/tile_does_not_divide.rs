#[cute_runtime::kernels]
mod kernels {
    #[kernel(threads = 128)]
    fn k() {
        let tile = smem::<f32>((64, 32));
        let half = local_tile(tile, (48, 32), (0, 0));
    }
}

fn main() {}
