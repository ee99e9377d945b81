__device__ float block_sum(float value, float *scratch) {
    for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(0xffffffff, value, offset);
    __syncthreads();
    if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = value;
    __syncthreads();
    value = 0;
    for (int i = 0; i < blockDim.x / 32; i++) value += scratch[i];
    return value;
}
extern "C" __global__ void layer_norm(const float *in, const float *gamma, const float *beta, float *out, int columns, float epsilon) {
    __shared__ float scratch[32];
    const float *row = in + blockIdx.x * columns;
    float sum = 0, squares = 0;
    for (int i = threadIdx.x; i < columns; i += blockDim.x) sum += row[i];
    float mean = block_sum(sum, scratch) / columns;
    for (int i = threadIdx.x; i < columns; i += blockDim.x) squares += (row[i] - mean) * (row[i] - mean);
    float scale = rsqrtf(block_sum(squares, scratch) / columns + epsilon);
    for (int i = threadIdx.x; i < columns; i += blockDim.x)
        out[blockIdx.x * columns + i] = (row[i] - mean) * scale * gamma[i] + beta[i];
}
