#[cute_runtime::kernels]
mod kernels {
    #[kernel(threads = 32)]
    pub fn k(x: u32) {
        match x {
            _ => {}
        }
    }
}

fn main() {}
