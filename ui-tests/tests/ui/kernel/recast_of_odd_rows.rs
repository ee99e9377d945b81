#[cute_runtime::kernels]
mod kernels {
    #[kernel(threads = 128)]
    fn k() {
        let tile = smem::<u16>((33, 8));
        let words = recast::<u32>(tile);
    }
}

fn main() {}
