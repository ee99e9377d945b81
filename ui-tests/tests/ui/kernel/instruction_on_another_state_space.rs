#[cute_runtime::kernels]
mod kernels {
    #[kernel(threads = 32)]
    pub fn k() {
        let x = smem::<f32>(4);
        let first = ptx!(f32: "ld.global.f32", [x[0]]);
    }
}

fn main() {}
