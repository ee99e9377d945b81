#[cute_runtime::kernels]
mod kernels {
    #[kernel(threads = 32)]
    pub fn k(n: u32) {
        let a = match n {
            0 => 1,
            1..4 => 2,
        };
        let b = match 5 {
            0 => 1,
        };
        let c = match n {
            m if m > 3 => 1,
            0 if n > 2 => 1,
            _ => 2,
        };
    }
}

fn main() {}
