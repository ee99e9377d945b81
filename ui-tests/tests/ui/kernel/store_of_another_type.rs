#[cute_runtime::kernels]
mod kernels {
    #[kernel(threads = 128)]
    fn k(n: u32) {
        let tile = smem::<f32>((64, 32));
        tile[(0, 0)] = n;
    }
}

fn main() {}
