#[cute_runtime::kernels]
mod trait_objects {
    fn apply(f: &dyn Fn(f32) -> f32, x: f32) -> f32 {
        f(x)
    }

    #[kernel(threads = 32)]
    fn f(x: f32) {
        let y = apply(&|x| x * 2.0, x);
    }
}

#[cute_runtime::kernels]
mod heap {
    #[kernel(threads = 32)]
    fn vector() {
        let v = Vec::new();
    }

    #[kernel(threads = 32)]
    fn macro_of_a_vector() {
        let v = vec![1, 2];
    }

    #[kernel(threads = 32)]
    fn boxed(x: f32) {
        let v = Box::new(x);
    }

    #[kernel(threads = 32)]
    fn text() {
        let v = String::from("text");
    }
}

#[cute_runtime::kernels]
mod references {
    struct Held<'a> {
        value: &'a u32,
    }

    #[kernel(threads = 32)]
    fn stored(x: u32) {
        let held = Held { value: &x };
    }
}

#[cute_runtime::kernels]
mod outliving {
    fn first(x: &mut u32) -> &mut u32 {
        x
    }

    #[kernel(threads = 32)]
    fn returned(x: u32) {
        let mut y = x;
        *first(&mut y) = 1;
    }
}

#[cute_runtime::kernels]
mod closures {
    fn call(f: impl Fn(u32) -> u32, x: u32) -> u32 {
        call(|x| f(x), x)
    }

    #[kernel(threads = 32)]
    fn recursion(x: u32) {
        let y = call(|x| x, x);
    }
}

#[cute_runtime::kernels]
mod traits {
    trait Scale {
        fn scale(self) -> f32;
    }

    #[kernel(threads = 32)]
    fn f() {}
}

#[cute_runtime::kernels]
mod implementations {
    struct Two {
        a: f32,
    }

    impl Add for Two {
        fn add(self, other: Two) -> Two {
            self
        }
    }

    #[kernel(threads = 32)]
    fn f() {}
}

#[cute_runtime::kernels]
mod control {
    #[kernel(threads = 32)]
    fn question(x: u32) {
        let y = Some(x)?;
    }

    #[kernel(threads = 32)]
    fn waits() {
        let y = async { 1 };
    }

    #[kernel(threads = 32)]
    fn unsafety(x: u32) {
        let y = unsafe { x };
    }

    #[kernel(threads = 32)]
    fn statics() {
        static X: u32 = 1;
    }
}

fn main() {}
