#[cute_runtime::kernels]
mod kernels {
    #[kernel(threads = 128)]
    fn k(a: TmaLoad<bf16, 2>) {
        let tile = smem::<bf16>(tile_to_shape(smem_atom::<bf16>(MN, SW128), (64, 64)));
        let full = mbarriers(1, 1);
        tma_load(a, (0, 0), tile, full[0]);
    }
}

fn main() {}
