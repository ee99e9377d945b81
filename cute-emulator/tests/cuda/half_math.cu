#include <cuda_fp16.h>
extern "C" __global__ void half_math(const half2 *a, const half2 *b, half2 *out) {
    int i = threadIdx.x;
    half2 x = a[i], y = b[i];
    out[8 * i] = __hfma2(x, y, __hadd2(x, y));
    out[8 * i + 1] = __hmul2_sat(x, y);
    out[8 * i + 2] = __hgt2(x, y);
    out[8 * i + 3] = h2exp(x);
    out[8 * i + 4] = __h2div(x, y);
    out[8 * i + 5] = __hmax2(x, __hneg2(y));
    out[8 * i + 6] = __floats2half2_rn(__half2float(hsqrt(__habs(x.x))), __hbge2(x, y) ? 1.0f : 0.0f);
    out[8 * i + 7] = make_half2(htrunc(x.x), __int2half_rn(__half2int_rd(y.y)));
}
