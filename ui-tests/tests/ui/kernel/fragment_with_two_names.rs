#[cute_runtime::kernels]
mod kernels {
    #[kernel(threads = 32)]
    pub unsafe fn k(d: Global<f32, 1>) {
        let acc = fragment::<f32>(4);
        fill(acc, 0.0);
        let old = acc;
        acc += 1.0;
        d[0] = old[0] + acc[0];
    }
}

fn main() {}
