extern "C" __global__ void barrier_reduce(const int *in, int *out) {
    int value = in[threadIdx.x];
    int count = __syncthreads_count(value > 10);
    int any = __syncthreads_or(value == 99), all = __syncthreads_and(value >= 0);
    out[threadIdx.x] = count + 1000 * (any != 0) + 2000 * (all != 0);
}
