#[cute_runtime::kernels]
mod none {
    #[kernel(threads = 32)]
    #[instances(T in [])]
    fn f<T: Element>(x: TmaLoad<T, 1>) {}
}

#[cute_runtime::kernels]
mod unknown {
    #[kernel(threads = 32)]
    #[instances(T in [f32], U in [f32])]
    fn f<T: Element>(x: TmaLoad<T, 1>) {}
}

#[cute_runtime::kernels]
mod unnamed {
    #[kernel(threads = 32)]
    #[instances(T in [[f32]])]
    fn f<T: Element>(x: TmaLoad<T, 1>) {}
}

#[cute_runtime::kernels]
mod together {
    #[kernel(threads = 32)]
    #[instances((T, N) in [(f32, 1), (f16, 2)])]
    fn f<T: Element, const N: u32>(x: TmaLoad<T, 1>) {}
}

#[cute_runtime::kernels]
mod short {
    #[kernel(threads = 32)]
    #[instances((T, D) in [(f32, f32), (f16,), f16])]
    fn f<T: Element, D: Element>(x: TmaLoad<T, 1>, y: TmaStore<D, 1>) {}
}

#[cute_runtime::kernels]
mod twice {
    #[kernel(threads = 32)]
    #[instances((T, T) in [(f32, f16)])]
    fn f<T: Element>(x: TmaLoad<T, 1>) {}
}

#[cute_runtime::kernels]
mod one_of_two {
    #[kernel(threads = 128)]
    #[instances(T in [bf16, i32])]
    fn f<T: Element>(x: TmaLoad<T, 1>) {
        let acc = fragment::<T::Accumulator>(wgmma_c(64));
    }
}

#[cute_runtime::kernels]
mod clash {
    #[kernel(threads = 32)]
    #[instances(T in [f32, f16], N in [1])]
    #[instances(T in [f16], N in [2, 1])]
    fn f<T: Element, const N: u32>(x: TmaLoad<T, 1>) {}
}

#[cute_runtime::kernels]
mod other_order {
    #[kernel(threads = 32)]
    #[instances(T in [f32], N in [1])]
    #[instances(N in [2], T in [f32])]
    fn f<T: Element, const N: u32>(x: TmaLoad<T, 1>) {}
}

#[cute_runtime::kernels]
mod fewer {
    #[kernel(threads = 32)]
    #[instances(T in [f32], N in [1])]
    #[instances(T in [f16])]
    fn f<T: Element, const N: u32>(x: TmaLoad<T, 1>) {}
}

fn main() {}
