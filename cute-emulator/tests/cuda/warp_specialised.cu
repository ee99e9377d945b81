#include <cooperative_groups.h>
#include <cuda/pipeline>
namespace cg = cooperative_groups;
// The first warp copies, the other three compute.
extern "C" __global__ void warp_specialised(const int *in, int *out, int tiles) {
    __shared__ alignas(16) int stages[2][128];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    auto block = cg::this_thread_block();
    bool producer = threadIdx.x < 32;
    auto pipeline = cuda::make_pipeline(block, &state, producer ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
    if (producer) {
        for (int tile = 0; tile < tiles; tile++) {
            pipeline.producer_acquire();
            cuda::memcpy_async(&stages[tile % 2][threadIdx.x * 4], in + tile * 128 + threadIdx.x * 4, cuda::aligned_size_t<16>(16), pipeline);
            pipeline.producer_commit();
        }
    } else {
        int sum = 0;
        for (int tile = 0; tile < tiles; tile++) {
            pipeline.consumer_wait();
            sum += stages[tile % 2][threadIdx.x - 32] * (tile + 1);
            pipeline.consumer_release();
        }
        out[threadIdx.x - 32] = sum;
    }
}
