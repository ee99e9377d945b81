//! What is written in CUDA C++, CuTe, Triton and Python has an error that says what is written here.

#[cute_runtime::kernels]
mod cuda {
    #[kernel(threads = 128)]
    fn index(n: u32) {
        let i = blockIdx.x * blockDim.x + threadIdx.x;
    }

    #[kernel(threads = 128)]
    fn block_index_has_fields(n: u32) {
        let i = block_idx().x;
    }

    #[kernel(threads = 128)]
    fn thread_has_no_fields(n: u32) {
        let i = thread().x;
    }

    #[kernel(threads = 128)]
    fn thread_index(n: u32) {
        let i = thread_idx();
    }

    #[kernel(threads = 128)]
    fn warps(n: u32) {
        let w = warp_id() + lane_id() + thread() / warpSize;
    }

    #[kernel(threads = 128)]
    fn types(x: float) {}

    #[kernel(threads = 128)]
    fn pointer(x: *const f32) {}

    #[kernel(threads = 128)]
    fn slice(x: &[f32]) {}

    #[kernel(threads = 128)]
    fn tensor(x: Tensor<f32, 2>) {}

    #[kernel(threads = 128)]
    fn rounds(n: u32) {
        let blocks = (n + 127).div_ceil(128);
    }

    #[kernel(threads = 128)]
    fn cast(n: u32) {
        let x = float(n);
    }
}

#[cute_runtime::kernels]
mod cute {
    #[kernel(threads = 128)]
    fn clears(n: u32) {
        let acc = fragment::<f32>(layout!((4,8)));
        clear(acc);
    }

    #[kernel(threads = 128)]
    fn partitions(x: Global<f32, 2>) {
        let tile = local_tile(x, (64, 64), (0, 0));
        let mine = local_partition(tile, layout!((8,16)), thread());
        let tensor = make_tensor(x, layout!((4,8)));
    }

    #[kernel(threads = 128)]
    fn warpgroup(n: u32) {
        warpgroup_arrive();
        warpgroup_wait::<0>();
    }

    #[kernel(threads = 128)]
    fn async_copies(n: u32) {
        cp_async_fence();
        cp_async_wait::<0>();
    }

    #[kernel(threads = 128)]
    fn barriers(n: u32) {
        let ready = ClusterBarrier(1);
        ready.wait(0);
    }

    #[kernel(threads = 128)]
    fn elects(n: u32) {
        if elect_one_sync() {}
    }

    #[kernel(threads = 128)]
    fn registers(n: u32) {
        warpgroup_reg_alloc::<240>();
    }

    #[kernel(threads = 128)]
    fn prints(n: u32) {
        print_tensor(n);
    }

    #[kernel(threads = 128)]
    fn shapes(x: Global<f32, 2>) {
        let m = x.shape(0);
        let n = size::<0>(x);
    }
}

#[cute_runtime::kernels]
mod triton {
    #[kernel(threads = 128)]
    fn programs(n: u32) {
        let block = program_id(0);
    }

    #[kernel(threads = 128)]
    fn loads(x: Global<f32, 1>) {
        let value = load(x, 0);
    }

    #[kernel(threads = 128)]
    fn stores(x: Global<f32, 1>) {
        store(x, 0, 1.0);
    }

    #[kernel(threads = 128)]
    fn ranges(n: u32) {
        let offsets = arange(0, 128);
    }

    #[kernel(threads = 128)]
    fn dots(n: u32) {
        let c = dot(n, n);
    }

    #[kernel(threads = 128)]
    fn accumulators(n: u32) {
        let acc = zeros((64, 64));
    }
}

fn main() {}
