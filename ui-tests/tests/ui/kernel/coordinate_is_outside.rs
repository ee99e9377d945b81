#[cute_runtime::kernels]
mod kernels {
    #[kernel(threads = 128)]
    fn k() {
        let tile = smem::<f32>((64, 32));
        let row = tile[(64, _)];
    }
}

fn main() {}
