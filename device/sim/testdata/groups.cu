// Warps and groups of threads. Each kernel runs with one block of 96 threads.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda_fp16.h>
namespace cg = cooperative_groups;

extern "C" __global__ void ranks(int *y) {
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<8> tile = cg::tiled_partition<8>(block);
    auto pair = cg::tiled_partition<2>(tile);
    int *mine = y + 10 * block.thread_rank();
    mine[0] = block.size();
    mine[1] = block.group_index().x;
    mine[2] = block.thread_index().x;
    mine[3] = tile.thread_rank();
    mine[4] = tile.size();
    mine[5] = tile.meta_group_rank();
    mine[6] = tile.meta_group_size();
    mine[7] = pair.thread_rank();
    mine[8] = pair.meta_group_rank();
    mine[9] = pair.meta_group_size();
    cg::sync(block);
}

extern "C" __global__ void tiles(const int *x, int *y) {
    cg::thread_block block = cg::this_thread_block();
    auto tile = cg::tiled_partition<16>(block);
    int t = block.thread_rank(), v = x[t];
    int *mine = y + 12 * t;
    mine[0] = tile.shfl(v, 3);
    mine[1] = tile.shfl_up(v, 2);
    mine[2] = tile.shfl_down(v, 2);
    mine[3] = tile.shfl_xor(v, 5);
    mine[4] = tile.ballot(v > 50);
    mine[5] = tile.any(v == 21);
    mine[6] = tile.all(v > 4);
    mine[7] = tile.match_any(v / 4);
    mine[8] = cg::reduce(tile, v, cg::plus<int>());
    mine[9] = cg::reduce(tile, v, cg::greater<int>());
    mine[10] = cg::reduce(tile, v, cg::less<int>());
    mine[11] = cg::inclusive_scan(tile, v, cg::plus<int>());
    tile.sync();
}

// The same through the warp's own functions, some lanes left out.
extern "C" __global__ void warps(const int *x, int *y) {
    int t = threadIdx.x, lane = t % 32, v = x[t];
    int *mine = y + 14 * t;
    unsigned mask = lane < 24 ? 0x00ffffffu : 0xff000000u;
    mine[0] = __reduce_add_sync(mask, v);
    mine[1] = __reduce_min_sync(mask, -v);
    mine[2] = __reduce_max_sync(mask, (unsigned)v);
    mine[3] = __reduce_and_sync(mask, (unsigned)v);
    mine[4] = __reduce_or_sync(mask, (unsigned)v);
    mine[5] = __reduce_xor_sync(mask, (unsigned)v);
    int all;
    mine[6] = __match_all_sync(mask, t / 32, &all);
    mine[7] = all;
    mine[8] = __match_all_sync(mask, v, &all);
    mine[9] = all;
    mine[10] = (int)(__shfl_sync(~0u, (long long)v << 40, lane ^ 1) >> 40);
    mine[11] = (int)(8 * __shfl_xor_sync(~0u, v / 8.0, 4));
    half2 pair = __shfl_down_sync(~0u, __floats2half2_rn(v, -v), 8);
    mine[12] = __half2int_rn(pair.x) - __half2int_rn(pair.y);
    mine[13] = __half2int_rn(__shfl_up_sync(~0u, __int2half_rn(v), 1, 8));
}

extern "C" __global__ void votes(const int *x, int *y) {
    int v = x[threadIdx.x];
    int *mine = y + 3 * threadIdx.x;
    mine[0] = __syncthreads_count(v % 3 == 0);
    mine[1] = __syncthreads_and(v >= 0);
    mine[2] = __syncthreads_or(v == 77);
}
