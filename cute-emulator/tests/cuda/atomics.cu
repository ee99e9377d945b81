#include <cuda/atomic>
__device__ double atomic_max(double *address, double value) {
    unsigned long long *bits = (unsigned long long *)address, old = *bits, assumed;
    do {
        assumed = old;
        if (__longlong_as_double(assumed) >= value) break;
        old = atomicCAS(bits, assumed, __double_as_longlong(value));
    } while (old != assumed);
    return __longlong_as_double(old);
}
extern "C" __global__ void atomics(const double *in, double *largest, double *sum, unsigned *words, cuda::atomic<int, cuda::thread_scope_device> *counter) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomic_max(largest, in[i]);
    atomicAdd(sum, in[i]);
    atomicMin(&words[0], i + 5), atomicMax((int *)&words[1], i - 3), atomicOr(&words[2], 1u << (i % 32));
    atomicXor(&words[3], i), atomicInc(&words[4], 9), atomicExch(&words[5 + i % 2], 77);
    counter->fetch_add(2, cuda::memory_order_relaxed);
    __threadfence();
}
