__constant__ float weights[5] = {0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f};
__constant__ int offset[2];
__device__ float scale = 2.0f;
__device__ unsigned visits;
extern "C" __global__ void stencil(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < 5; k++) {
        int j = min(max(i + k - 2, 0), n - 1);
        sum += weights[k] * in[j];
    }
    if (i < n) out[i] = sum * scale + offset[i & 1];
    atomicAdd(&visits, 1u);
}
