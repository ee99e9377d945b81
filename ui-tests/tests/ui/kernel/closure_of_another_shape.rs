#[cute_runtime::kernels]
mod kernels {
    fn twice(f: impl Fn(u32) -> u32, x: u32) -> u32 {
        f(f(x))
    }

    fn tensor(x: Tensor) {}

    #[kernel(threads = 128)]
    pub fn k(n: u32) {
        let a = twice(|x, y| x + y, n);
        let b = twice(n, n);
        let acc = fragment::<f32>(wgmma_c(8));
        let c = map(acc, 2);
        let d = map(acc, |x| (x, x));
        let e = n(3);
        tensor(|x| x);
        let other = acc;
        other = acc;
    }
}

fn main() {}
