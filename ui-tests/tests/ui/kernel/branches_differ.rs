#[cute_runtime::kernels]
mod kernels {
    #[kernel(threads = 32)]
    pub fn k(x: u32) {
        let l = if x == 0 { layout!((4,8):(8,1)) } else { layout!((4,8):(1,4)) };
    }
}

fn main() {}
