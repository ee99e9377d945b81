extern "C" __global__ void float_math(const float *in, float *out) {
    int i = threadIdx.x;
    float x = in[i];
    out[10 * i] = sinf(x * 1e6f);
    out[10 * i + 1] = cosf(x * 1e9f);
    out[10 * i + 2] = tanf(x);
    out[10 * i + 3] = logf(fabsf(x) + 0.5f) + log1pf(fabsf(x));
    out[10 * i + 4] = powf(fabsf(x) + 0.1f, 2.3f);
    out[10 * i + 5] = erff(x) + tanhf(x);
    out[10 * i + 6] = exp2f(x) + expm1f(x * 0.01f) + exp10f(x * 0.1f);
    out[10 * i + 7] = atan2f(x, 1.5f) + asinf(x * 0.01f);
    out[10 * i + 8] = sqrtf(fabsf(x)) / (x + 0.125f) + cbrtf(x);
    out[10 * i + 9] = fmodf(x * 1000, 3.7f) + roundf(x) + rintf(x * 0.5f) + ldexpf(x, 3) + hypotf(x, 2.0f);
}
