#[cute_runtime::kernels]
mod kernels {
    enum Mode {
        Fast,
        Exact(u32),
    }

    struct Pair(u32, u32);

    impl Clone for Pair {
        fn clone(&self) -> Self {
            Self(self.0, self.1)
        }
    }

    type Endless = Endless;

    #[kernel(threads = 32)]
    pub fn k(n: u32) {}
}

fn main() {}
