#[cute_runtime::kernels]
mod kernels {
    #[kernel(threads = 128)]
    fn k() {
        let acc = fragment::<f32>(wgmma_c(64));
        let quarter = local_tile(acc, (64, 4), (0, 0));
    }
}

fn main() {}
