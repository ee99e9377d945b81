#include <cuda_bf16.h>
extern "C" __global__ void bf16_math(const __nv_bfloat162 *a, const __nv_bfloat162 *b, __nv_bfloat162 *out) {
    int i = threadIdx.x;
    __nv_bfloat162 x = a[i], y = b[i];
    out[6 * i] = __hfma2(x, y, __hsub2(x, y));
    out[6 * i + 1] = __hmul2(x, y);
    out[6 * i + 2] = __hlt2(x, y);
    out[6 * i + 3] = h2exp2(x);
    out[6 * i + 4] = __hmin2(x, __habs2(y));
    out[6 * i + 5] = __floats2bfloat162_rn(__bfloat162float(hrcp(x.x)), (float)__bfloat162int_rz(y.y));
}
