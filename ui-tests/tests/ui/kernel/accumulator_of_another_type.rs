#[cute_runtime::kernels]
mod kernels {
    #[kernel(threads = 128)]
    fn k() {
        let a = smem::<i8>(tile_to_shape(smem_atom::<i8>(K, SW128), (64, 128)));
        let acc = fragment::<f32>(wgmma_c(64));
        wgmma(acc, a, a, false);
    }
}

fn main() {}
