extern "C" __global__ void double_math(const double *in, double *out) {
    int i = threadIdx.x;
    double x = in[i];
    out[8 * i] = exp(x);
    out[8 * i + 1] = log(fabs(x) + 1e-3);
    out[8 * i + 2] = sin(x * 1000);
    out[8 * i + 3] = cos(x * 1e12);
    out[8 * i + 4] = pow(fabs(x), 1.7);
    out[8 * i + 5] = x / 3.1 + sqrt(fabs(x));
    out[8 * i + 6] = atan2(x, 2.0) + tanh(x);
    out[8 * i + 7] = fmod(x * 1e6, 7.3) + cbrt(x) + rsqrt(fabs(x) + 1);
}
