extern "C" __global__ void local_array(const int *in, int *out, int n) {
    int stack[32], top = 0;
    for (int i = 0; i < n; i++) {
        int value = in[threadIdx.x * n + i];
        if (value < 0 && top > 1) { int a = stack[--top]; stack[top - 1] = stack[top - 1] * 2 + a; }
        else if (top < 32) stack[top++] = value;
    }
    int sum = 0;
    for (int i = 0; i < top; i++) sum = sum * 31 + stack[i];
    out[threadIdx.x] = sum;
}
