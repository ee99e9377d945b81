//! Nothing proves that a coordinate is inside of a tensor in global memory: the kernel has to say so.

#[cute_runtime::kernels]
mod kernels {
    #[kernel(threads = 32)]
    pub fn add(a: Global<f32, 1>, out: Global<f32, 2>) {
        out[(0, thread())] = value(a);
        out[(1, thread())] = 0.0;
    }

    fn value(a: Global<f32, 1>) -> f32 {
        a[thread()]
    }
}

fn main() {}
