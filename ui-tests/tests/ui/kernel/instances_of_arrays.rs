#[cute_runtime::kernels]
mod one {
    pub struct Size(pub u32);
    const SMALL: Size = Size(1);
    #[kernel(threads = 32)]
    #[instances(SIZE in SMALL)]
    fn f<const SIZE: Size>() {}
}

#[cute_runtime::kernels]
mod empty {
    const SIZES: [u32; 0] = [];
    #[kernel(threads = 32)]
    #[instances(N in SIZES)]
    fn f<const N: u32>() {}
}

#[cute_runtime::kernels]
mod other_type {
    pub struct Size(pub u32);
    const SIZES: [u32; 2] = [1, 2];
    #[kernel(threads = 32)]
    #[instances(SIZE in [Size(1), ..SIZES])]
    fn f<const SIZE: Size>() {}
}

#[cute_runtime::kernels]
mod unknown {
    #[kernel(threads = 32)]
    #[instances(N in SIZES)]
    fn f<const N: u32>() {}
}

#[cute_runtime::kernels]
mod not_constant {
    const SIZES: [u32; 2] = [1, thread()];
    #[kernel(threads = 32)]
    #[instances(N in SIZES)]
    fn f<const N: u32>() {}
}

#[cute_runtime::kernels]
mod types {
    const SIZES: [u32; 2] = [1, 2];
    #[kernel(threads = 32)]
    #[instances(T in SIZES)]
    fn f<T: Element>(x: TmaLoad<T, 1>) {}
}

#[cute_runtime::kernels]
mod no_name {
    const SIZES: [u32; 2] = [1, 2];
    #[kernel(threads = 32)]
    #[instances(N in map(SIZES, |n| n + 1))]
    fn f<const N: u32>() {}
}

#[cute_runtime::kernels]
mod expression {
    pub struct Size(pub u32);
    #[kernel(threads = 32)]
    #[instances(SIZE in [Size(1), 2 + 3])]
    fn f<const SIZE: Size>() {}
}

#[cute_runtime::kernels]
mod clash {
    const SIZES_0: u32 = 7;
    const SIZES: [u32; 2] = [1, 2];
    #[kernel(threads = 32)]
    #[instances(N in [SIZES_0, ..SIZES])]
    fn f<const N: u32>() {}
}

#[cute_runtime::kernels]
mod too_many {
    const SIZES: [u32; 65] = [0; 65];
    #[kernel(threads = 32)]
    #[instances(N in SIZES, M in SIZES)]
    fn f<const N: u32, const M: u32>() {}
}

#[cute_runtime::kernels]
mod one_element {
    const SIZES: [u32; 3] = [32, 48, 64];
    #[kernel(threads = 32)]
    #[instances(N in SIZES)]
    fn f<const N: u32>() {
        assert!(N % 32 == 0);
    }
}

fn main() {}
