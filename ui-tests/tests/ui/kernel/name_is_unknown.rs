#[cute_runtime::kernels]
mod kernels {
    #[kernel(threads = 32)]
    pub fn k(rows: u32) {
        let x = rwos + 1;
    }
}

fn main() {}
