#[cute_runtime::kernels]
mod kernels {
    #[kernel(threads = 128)]
    fn k() {
        let v = smem::<e4m3>(tile_to_shape(smem_atom::<e4m3>(K, SW64), (64, 64)));
        let s = fragment::<f32>(wgmma_c(64));
        let o = fragment::<f32>(wgmma_c(64));
        wgmma(o, convert::<e4m3>(s), v, false);
    }
}

fn main() {}
