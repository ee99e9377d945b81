extern "C" __global__ void integers(const long long *a, const long long *b, unsigned long long *out) {
    int i = threadIdx.x;
    long long x = a[i], y = b[i] | 1;
    out[10 * i] = x / y;
    out[10 * i + 1] = x % y;
    out[10 * i + 2] = (unsigned long long)x / (unsigned long long)y;
    out[10 * i + 3] = __umul64hi(x, y);
    unsigned __int128 product = (unsigned __int128)(unsigned long long)x * (unsigned long long)y + (unsigned long long)x;
    product -= (unsigned __int128)(unsigned long long)y << 17;
    out[10 * i + 4] = (unsigned long long)product;
    out[10 * i + 5] = (unsigned long long)(product >> 64);
    out[10 * i + 6] = __byte_perm(x, y, 0x3715) + __funnelshift_l(x, y, x & 31) + __brev(x) + __ffsll(y) + __clzll(x);
    out[10 * i + 7] = __fns(x, x & 31, 2) + __sad(x, y, 3) + __vabsdiffu4(x, y) + __vadd2(x, y);
    out[10 * i + 8] = (unsigned long long)(product / (unsigned long long)y);
    out[10 * i + 9] = __mulhi((int)x, (int)y) + __hadd((int)x, (int)y) + ((int)x >> (y & 31)) + __popcll(x);
}
