#[cute_runtime::kernels]
mod kernels {
    #[kernel(threads = 128)]
    fn k() {
        let x = fragment::<f32>(wgmma_c(64));
        x.fill(0.0);
        let mut m = reduce(x, 1, max);
        m = x;
        let sums = scan(x, 1, mul);
    }
}

fn main() {}
