extern "C" __global__ void block_scan(const int *in, int *out) {
    __shared__ int buffer[2][256];
    int i = threadIdx.x, from = 0;
    buffer[0][i] = in[blockIdx.x * 256 + i];
    __syncthreads();
    for (int offset = 1; offset < 256; offset *= 2) {
        buffer[1 - from][i] = buffer[from][i] + (i >= offset ? buffer[from][i - offset] : 0);
        from = 1 - from;
        __syncthreads();
    }
    out[blockIdx.x * 256 + i] = buffer[from][i];
}
