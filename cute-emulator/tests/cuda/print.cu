#include <cstdio>
extern "C" __global__ void print(int n) {
    if (threadIdx.x < n) printf("thread %d of %u: %5.2f %s %c %llx %%\n", threadIdx.x, blockDim.x, threadIdx.x * 0.5, threadIdx.x & 1 ? "odd" : "even", 'a' + threadIdx.x, 0x123456789abcull);
}
