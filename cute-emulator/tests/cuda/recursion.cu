struct Pair { int low, high; };
__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__device__ __noinline__ Pair swapped(Pair pair, double factor) { return {(int)(pair.high * factor), pair.low}; }
extern "C" __global__ void recursion(int *out) {
    Pair pair = swapped({(int)threadIdx.x, 7}, 1.5);
    out[threadIdx.x] = fibonacci(threadIdx.x % 12) * 1000 + pair.low + pair.high;
}
