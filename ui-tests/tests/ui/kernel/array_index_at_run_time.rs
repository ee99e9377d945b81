#[cute_runtime::kernels]
mod kernels {
    #[kernel(threads = 32)]
    pub fn k(n: u32) {
        let a = [1, 2, 3];
        let b = a[n];
        let c = a[3];
        let d: [u32; 2] = a;
        let e = [n; n];
    }
}

fn main() {}
