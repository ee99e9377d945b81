#include <cuda_pipeline.h>
extern "C" __global__ void cp_async_pipeline(const float4 *in, float *out, int tiles) {
    __shared__ float4 stages[2][128];
    __pipeline_memcpy_async(&stages[0][threadIdx.x], &in[threadIdx.x], 16);
    __pipeline_commit();
    float sum = 0;
    for (int tile = 0; tile < tiles; tile++) {
        if (tile + 1 < tiles) __pipeline_memcpy_async(&stages[(tile + 1) % 2][threadIdx.x], &in[(tile + 1) * 128 + threadIdx.x], 16);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        float4 value = stages[tile % 2][127 - threadIdx.x];
        sum += value.x + 2 * value.y + 3 * value.z + 4 * value.w;
        __syncthreads();
    }
    out[threadIdx.x] = sum;
}
