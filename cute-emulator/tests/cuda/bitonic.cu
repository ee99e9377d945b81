extern "C" __global__ void bitonic(unsigned *data) {
    __shared__ unsigned keys[512];
    for (int i = threadIdx.x; i < 512; i += 256) keys[i] = data[blockIdx.x * 512 + i];
    for (int size = 2; size <= 512; size *= 2)
        for (int stride = size / 2; stride > 0; stride /= 2) {
            __syncthreads();
            int low = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
            bool up = (low & size) == 0;
            unsigned a = keys[low], b = keys[low + stride];
            if ((a > b) == up) keys[low] = b, keys[low + stride] = a;
        }
    __syncthreads();
    for (int i = threadIdx.x; i < 512; i += 256) data[blockIdx.x * 512 + i] = keys[i];
}
