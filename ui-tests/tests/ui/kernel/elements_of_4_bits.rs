#[cute_runtime::kernels]
mod kernels {
    #[kernel(threads = 32)]
    unsafe fn parameter(x: Global<u4, 1>) {}

    #[kernel(threads = 32)]
    unsafe fn list(x: [TmaLoad<e2m1, 2>; 2]) {}

    #[kernel(threads = 32)]
    fn number(n: i4) {}

    #[kernel(threads = 32)]
    #[instances(T in [u8, u4])]
    unsafe fn generic<T>(x: Global<T, 1>) {}

    #[kernel(threads = 32)]
    unsafe fn accesses(y: TmaStore<u8, 2>, i: u32) {
        let x = smem::<u4>((64, 128));
        let all = recast::<u8>(x);
        let held = fragment::<u8>(64);
        let one = x[(0, i)];
        x[(0, 1)] = 1;
        let row = x[(i, _)];
        copy(x, held);
        tma_store(x, y, (0, 0));
        let narrow = fragment::<u4>(64);
        let converted = convert::<i4>(held);
        let number: u4 = 1;
    }

    #[kernel(threads = 128)]
    unsafe fn products() {
        let x = smem::<e2m1>(tile_to_shape(smem_atom::<e2m1>(K, SW128), (64, 256)));
        let sums = fragment::<f32>(wgmma_c(64));
        wgmma(sums, x, x, false);
        let odd = recast::<u8>(smem::<u4>(7));
        let half = bytes(smem::<u4>(7));
    }
}

fn main() {}
