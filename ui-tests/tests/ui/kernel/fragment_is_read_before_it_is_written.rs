#[cute_runtime::kernels]
mod kernels {
    #[kernel(threads = 128)]
    fn k() {
        let a = smem::<bf16>(tile_to_shape(smem_atom::<bf16>(K, SW128), (64, 64)));
        let acc = fragment::<f32>(wgmma_c(64));
        wgmma(acc, a, a, true);
        let sums = fragment::<f32>(acc, 1);
        let twice = sums * 2.0;
    }
}

fn main() {}
