#include <cassert>
extern "C" __global__ void assertion(const int *in, int *out) {
    assert(in[threadIdx.x] >= 0 && "the number is negative");
    out[threadIdx.x] = in[threadIdx.x] + 1;
}
