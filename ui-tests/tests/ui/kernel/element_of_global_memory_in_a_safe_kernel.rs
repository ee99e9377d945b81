//! Only an `unsafe fn` may access elements of a `Global`, since nothing proves that their coordinates are inside.

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
