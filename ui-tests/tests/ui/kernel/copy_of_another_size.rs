#[cute_runtime::kernels]
mod kernels {
    #[kernel(threads = 128)]
    fn k() {
        let tile = smem::<f32>((64, 32));
        let x = fragment::<f32>(32);
        copy(tile, x);
    }
}

fn main() {}
