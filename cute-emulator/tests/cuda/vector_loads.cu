extern "C" __global__ void vector_loads(const uint4 *__restrict__ in, uint4 *out, const double2 *pairs, double *sums) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    uint4 value = __ldg(&in[i]);
    out[i] = make_uint4(value.w, value.z, value.y + 1, value.x);
    double2 pair = __ldcs(&pairs[i]);
    sums[i] = pair.x + pair.y;
}
