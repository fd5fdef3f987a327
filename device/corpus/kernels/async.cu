// Asynchronous copies from global to shared memory, and cooperative groups.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_pipeline.h>
namespace cg = cooperative_groups;

// gemm_async: 32 × 32 a block, 2 × 2 a thread; while two tiles are multiplied, the
// next are on their way, 16 bytes a copy. n and k are multiples of 4.
extern "C" __global__ void __launch_bounds__(256)
    gemm_async(const float *a, const float *b, float *c, int m, int n, int k) {
    __shared__ __align__(16) float as[2][32][16], bs[2][16][32];
    int t = threadIdx.x, ty = t / 16, tx = t % 16;
    int top = blockIdx.y * 32, left = blockIdx.x * 32;
    auto fetch = [&](int buffer, int from) {
        int i = t % 128;
        if (t < 128) {
            int r = i / 4, q = i % 4 * 4;
            bool inside = top + r < m && from + q < k;
            const float *at = inside ? a + (top + r) * k + from + q : a;
            __pipeline_memcpy_async(&as[buffer][r][q], at, 16, inside ? 0 : 16);
        } else {
            int q = i / 8, s = i % 8 * 4;
            bool inside = from + q < k && left + s < n;
            const float *at = inside ? b + (from + q) * n + left + s : b;
            __pipeline_memcpy_async(&bs[buffer][q][s], at, 16, inside ? 0 : 16);
        }
        __pipeline_commit();
    };
    float sum[2][2] = {};
    int now = 0;
    fetch(0, 0);
    for (int from = 0; from < k; from += 16, now ^= 1) {
        bool more = from + 16 < k;
        if (more) fetch(now ^ 1, from + 16);
        __pipeline_wait_prior(more ? 1 : 0);
        __syncthreads();
        for (int q = 0; q < 16; q++)
            for (int r = 0; r < 2; r++)
                for (int s = 0; s < 2; s++)
                    sum[r][s] += as[now][ty + 16 * r][q] * bs[now][q][tx + 16 * s];
        __syncthreads();
    }
    for (int r = 0; r < 2; r++)
        for (int s = 0; s < 2; s++) {
            int row = top + ty + 16 * r, col = left + tx + 16 * s;
            if (row < m && col < n) c[row * n + col] = sum[r][s];
        }
}

// stream_async: each thread's own pipeline of four copies; it reads only what it
// copied itself, and so needs no barrier.
extern "C" __global__ void __launch_bounds__(64) stream_async(const float *x, float *y, int n) {
    __shared__ float ring[4][64];
    int t = threadIdx.x, step = gridDim.x * 64, first = blockIdx.x * 64 + t;
    for (int stage = 0; stage < 3; stage++) {
        int at = first + stage * step;
        if (at < n) __pipeline_memcpy_async(&ring[stage][t], x + at, 4);
        __pipeline_commit();
    }
    for (int i = first, stage = 0; i < n; i += step, stage = (stage + 1) % 4) {
        int ahead = i + 3 * step;
        if (ahead < n) __pipeline_memcpy_async(&ring[(stage + 3) % 4][t], x + ahead, 4);
        __pipeline_commit();
        __pipeline_wait_prior(3);
        y[i] = 2 * ring[stage][t] + 1;
    }
    __pipeline_wait_prior(0);
}

// sum_groups: tiles of 16 threads reduce, and the block's first thread collects.
extern "C" __global__ void sum_groups(const float *x, float *sums, int n) {
    extern __shared__ float tiles[];
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<16> tile = cg::tiled_partition<16>(block);
    int i = block.group_index().x * block.size() + block.thread_rank();
    float v = cg::reduce(tile, i < n ? x[i] : 0.0f, cg::plus<float>());
    if (tile.thread_rank() == 0) tiles[tile.meta_group_rank()] = v;
    block.sync();
    if (block.thread_rank() == 0) {
        float sum = 0;
        for (int w = 0; w < tile.meta_group_size(); w++) sum += tiles[w];
        sums[block.group_index().x] = sum;
    }
}
