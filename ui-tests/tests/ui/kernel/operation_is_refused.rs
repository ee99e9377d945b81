#[cute_runtime::kernels]
mod kernels {
    #[kernel(threads = 32)]
    pub fn k() {
        let tile = smem::<f32>(layout!((8,6):(6,1)));
        let quarters = zipped_divide(tile, (2, 4));
    }
}

fn main() {}
