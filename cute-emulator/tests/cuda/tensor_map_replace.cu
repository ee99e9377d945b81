#include <cuda.h>
#include <cuda/ptx>
namespace ptx = cuda::ptx;
// Changes the address and the width of a tensor map, then copies a tile by it.
extern "C" __global__ void tensor_map_replace(const __grid_constant__ CUtensorMap source, CUtensorMap *map, int *other, int width, int *out) {
    __shared__ alignas(128) CUtensorMap mine;
    __shared__ alignas(128) int tile[8][32];
    __shared__ alignas(8) cuda::std::uint64_t ready;
    if (threadIdx.x == 0) {
        mine = source;
        ptx::mbarrier_init(&ready, 1);
    }
    __syncwarp();
    if (threadIdx.x == 0) {
        ptx::tensormap_replace_global_address(ptx::space_shared, &mine, other);
        ptx::tensormap_replace_global_dim(ptx::space_shared, &mine, ptx::n32_t<0>(), width);
        ptx::tensormap_replace_global_stride(ptx::space_shared, &mine, ptx::n32_t<0>(), (cuda::std::int64_t)width * 4);
    }
    __syncwarp();
    ptx::tensormap_cp_fenceproxy(ptx::sem_release, ptx::scope_gpu, map, &mine, ptx::n32_t<128>());
    if (threadIdx.x == 0) {
        ptx::fence_proxy_tensormap_generic(ptx::sem_acquire, ptx::scope_gpu, map, ptx::n32_t<128>());
        ptx::fence_proxy_async(ptx::space_shared);
        cuda::std::int32_t coordinates[2] = {0, 0};
        ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, tile, map, coordinates, &ready);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &ready, sizeof(tile));
    }
    __syncthreads();
    while (!ptx::mbarrier_try_wait_parity(&ready, 0)) {}
    for (int i = threadIdx.x; i < 256; i += blockDim.x) out[i] = tile[i / 32][i % 32];
}
