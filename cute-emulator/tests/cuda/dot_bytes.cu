extern "C" __global__ void dot_bytes(const int *a, const int *b, int *c) {
    int i = threadIdx.x;
    c[4 * i] = __dp4a(a[i], b[i], i);
    c[4 * i + 1] = (int)__dp4a((unsigned)a[i], (unsigned)b[i], (unsigned)i);
    c[4 * i + 2] = __dp2a_lo(a[i], b[i], i);
    c[4 * i + 3] = (int)__dp2a_hi((unsigned)a[i], (unsigned)b[i], (unsigned)i);
}
