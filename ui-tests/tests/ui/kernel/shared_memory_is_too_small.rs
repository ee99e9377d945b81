#[cute_runtime::kernels]
mod kernels {
    #[kernel(threads = 32)]
    pub fn k() {
        let a = smem::<f32>(layout!((128,256):(256,1)));
        let b = smem::<f32>(layout!((128,256):(256,1)));
    }
}

fn main() {}
