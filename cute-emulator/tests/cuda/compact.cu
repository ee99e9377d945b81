// Appends the odd numbers to `out`, and counts equal numbers of a warp.
extern "C" __global__ void compact(const int *in, int *out, int *count, int *equal, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int value = i < n ? in[i] : 0;
    unsigned odd = __ballot_sync(0xffffffff, value & 1);
    int lane = threadIdx.x % 32, base = 0;
    if (lane == 0 && odd) base = atomicAdd(count, __popc(odd));
    base = __shfl_sync(0xffffffff, base, 0);
    if (value & 1) out[base + __popc(odd & ((1u << lane) - 1))] = value;
    int all;
    unsigned same = __match_any_sync(0xffffffff, value % 5);
    __match_all_sync(0xffffffff, value, &all);
    if (i < n) equal[i] = __popc(same) + 100 * all + 1000 * __any_sync(__activemask(), value == 7);
}
