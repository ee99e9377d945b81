extern "C" __global__ void rounding(const float *in, float *out, double *wide, int *whole) {
    int i = threadIdx.x;
    float x = in[2 * i], y = in[2 * i + 1];
    out[8 * i] = __fadd_rd(x, y);
    out[8 * i + 1] = __fmul_ru(x, y);
    out[8 * i + 2] = __fmaf_rz(x, y, x);
    out[8 * i + 3] = __fdiv_ru(x, y);
    out[8 * i + 4] = __fsqrt_rd(fabsf(x));
    out[8 * i + 5] = __frcp_rz(y);
    out[8 * i + 6] = __double2float_rd((double)x * y);
    out[8 * i + 7] = __int2float_ru(__float_as_int(x)) + __ll2float_rz((long long)__float_as_int(y) << 20);
    wide[4 * i] = __dadd_ru(x, y * 1e-20);
    wide[4 * i + 1] = __ddiv_rd(x, y);
    wide[4 * i + 2] = __dsqrt_rz(fabs((double)y));
    wide[4 * i + 3] = __fma_ru((double)x, (double)y, 1e-30) + __ll2double_rd((long long)__float_as_int(x) << 31 | 1);
    whole[4 * i] = __float2int_rd(x);
    whole[4 * i + 1] = __float2int_ru(y);
    whole[4 * i + 2] = __float2uint_rn(x);
    whole[4 * i + 3] = (int)__double2ll_rn((double)x * y) + (int)floorf(x) + (int)ceilf(y);
}
