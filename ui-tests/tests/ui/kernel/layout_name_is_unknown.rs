#[cute_runtime::kernels]
mod kernels {
    #[kernel(threads = 128)]
    pub fn k(m: u32) {
        let tile = smem::<f32>(layout!(TILE));
    }
}

fn main() {}
