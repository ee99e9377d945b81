#[cute_runtime::kernels]
mod kernels {
    struct Tile;

    #[kernel(threads = 32)]
    pub fn k() {}
}

fn main() {}
