#[cute_runtime::kernels]
mod kernels {
    struct Counter {
        n: u32,
    }

    impl Counter {
        fn next(&mut self) -> u32 {
            self.n += 1;
            self.n
        }

        fn wrong(&self) {
            self.n += 1;
        }
    }

    #[kernel(threads = 32)]
    pub fn k(n: u32) {
        let counter = Counter { n };
        counter.next();
        counter.wrong();
        for i in counter {}
    }
}

fn main() {}
