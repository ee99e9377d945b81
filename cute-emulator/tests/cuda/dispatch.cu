typedef int (*Function)(int, int);
__device__ int add(int a, int b) { return a + b; }
__device__ int multiply(int a, int b) { return a * b; }
__device__ int shift(int a, int b) { return a << (b & 7); }
__device__ Function functions[3] = {add, multiply, shift};
extern "C" __global__ void dispatch(const int *in, int *pointers, int *cases) {
    int i = threadIdx.x, value = in[i];
    pointers[i] = functions[i % 3](value, i);
    int result;
    switch (value & 7) {
    case 0: result = value * 3; break;
    case 1: result = value ^ 0x55; atomicAdd(&cases[64], 1); break;
    case 2: result = value / 7; break;
    case 3: result = value % 11 + __popc(value); break;
    case 4: result = -value; break;
    case 5: result = __brev(value); break;
    case 6: result = __clz(value) * value; break;
    default: result = value * value;
    }
    cases[i] = result;
}
