#include <cuda/barrier>
#include <cuda/ptx>
using barrier = cuda::barrier<cuda::thread_scope_block>;
extern "C" __global__ void bulk_copy(int *data) {
    __shared__ alignas(16) int buffer[256];
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ barrier ready;
    if (threadIdx.x == 0) {
        init(&ready, blockDim.x);
        cuda::device::experimental::fence_proxy_async_shared_cta();
    }
    __syncthreads();
    barrier::arrival_token token;
    if (threadIdx.x == 0) {
        cuda::memcpy_async(buffer, data + blockIdx.x * 256, cuda::aligned_size_t<16>(sizeof(buffer)), ready);
    }
    token = ready.arrive();
    ready.wait(std::move(token));
    for (int i = threadIdx.x; i < 256; i += blockDim.x) buffer[i] = buffer[i] * 3 + 1;
    cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0) {
        cuda::ptx::cp_async_bulk(cuda::ptx::space_global, cuda::ptx::space_shared, data + blockIdx.x * 256, buffer, sizeof(buffer));
        cuda::ptx::cp_async_bulk_commit_group();
        cuda::ptx::cp_async_bulk_wait_group_read(cuda::ptx::n32_t<0>());
    }
}
