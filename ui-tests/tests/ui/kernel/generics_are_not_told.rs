#[cute_runtime::kernels]
mod kernels {
    struct Ring<const STAGES: u32> {
        at: u32,
    }

    impl<const STAGES: u32> Ring<STAGES> {
        fn new() -> Self {
            Self { at: 0 }
        }
    }

    fn of(ring: Ring<4>) {}

    #[kernel(threads = 32)]
    pub fn k(n: u32) {
        let a = Ring::new();
        let b = Ring::<3, 4>::new();
        of(Ring::<3>::new());
    }
}

fn main() {}
