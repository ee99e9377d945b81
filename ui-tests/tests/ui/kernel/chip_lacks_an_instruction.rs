#[cute_runtime::kernels]
mod ampere {
    #[kernel(threads = 128, target = "sm_80")]
    pub fn lacking(x: TmaLoad<bf16, 2>, m: u32) {
        let tile = smem::<bf16>(tile_to_shape(smem_atom::<bf16>(K, SW128), (64, 64)));
        let ready = mbarriers(1, 1);
        let acc = fragment::<f32>(wgmma_c(64));
        wgmma_fence();
        wgmma(acc, tile, tile, false);
        sync_cluster();
        ptx!("fence.proxy.async");
        let half = convert::<bf16>(m as f32);
        let sum = half + half;
    }

    #[kernel(threads = 128, target = "sm_80")]
    pub fn loads(x: TmaLoad<bf16, 2>) {
        let tile = smem::<bf16>(tile_to_shape(smem_atom::<bf16>(K, SW128), (64, 64)));
        tma_prefetch(x, (0, 0), tile);
    }

    #[kernel(threads = 128, target = "sm_80", cluster = (2, 1, 1))]
    pub fn clustered() {}

    #[kernel(threads = 128, target = "sm_80")]
    pub fn large() {
        let tile = smem::<f32>((164, 256));
    }
}

#[cute_runtime::kernels]
mod turing {
    #[kernel(threads = 128, target = "sm_75")]
    pub fn unknown() {}
}

#[cute_runtime::kernels]
mod hopper {
    #[kernel(threads = 128, target = "sm_90", cluster = (2, 1, 1))]
    pub fn tma_without_wgmma(x: TmaLoad<bf16, 2>) {
        let tile = smem::<bf16>(tile_to_shape(smem_atom::<bf16>(K, SW128), (64, 64)));
        let ready = mbarriers(1, 1);
        if thread() == 0 {
            expect_tx(ready[0], bytes(tile));
            tma_load(x, (0, 0), tile, ready[0]);
        }
        wait(ready[0], 0);
        wgmma_fence();
    }
}

fn main() {}
