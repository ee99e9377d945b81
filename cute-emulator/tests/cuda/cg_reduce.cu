#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;
extern "C" __global__ void cg_reduce(const int *in, int *sums, float *largest, int *scans) {
    cg::thread_block block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    auto quad = cg::tiled_partition<4>(warp);
    int value = in[block.thread_rank()];
    int sum = cg::reduce(warp, value, cg::plus<int>());
    float most = cg::reduce(quad, (float)value, cg::greater<float>());
    if (warp.thread_rank() == 0) atomicAdd(sums, sum);
    largest[block.thread_rank()] = most;
    scans[block.thread_rank()] = cg::inclusive_scan(warp, value);
    block.sync();
}
