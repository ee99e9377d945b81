#include <cuda_bf16.h>
// One warp: D = A·B, 16×8×16 in bf16, by ldmatrix and mma.sync.
extern "C" __global__ void mma_sync(const __nv_bfloat16 *a, const __nv_bfloat16 *b, float *d) {
    __shared__ __align__(16) __nv_bfloat16 as[16][16], bs[8][16];
    for (int i = threadIdx.x; i < 256; i += 32) as[i / 16][i % 16] = a[i];
    for (int i = threadIdx.x; i < 128; i += 32) bs[i / 16][i % 16] = b[i];
    __syncwarp();
    unsigned ra[4], rb[2];
    unsigned from = __cvta_generic_to_shared(&as[threadIdx.x % 16][threadIdx.x / 16 * 8]);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(ra[0]), "=r"(ra[1]), "=r"(ra[2]), "=r"(ra[3]) : "r"(from));
    from = __cvta_generic_to_shared(&bs[threadIdx.x % 8][threadIdx.x / 8 % 2 * 8]);
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];" : "=r"(rb[0]), "=r"(rb[1]) : "r"(from));
    float c[4] = {0, 0, 0, 0};
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]));
    int row = threadIdx.x / 4, column = threadIdx.x % 4 * 2;
    for (int i = 0; i < 4; i++) d[(row + i / 2 * 8) * 8 + column + i % 2] = c[i];
}
