// Attention in halves, the plain way: a block for each query of a head, in a prompt and in a step
// alike. Its warps take the keys in turn, and each goes through its own with an online softmax, in
// float32. At the end their means are put together.
//
//   q [batch, heads, count, dim]     k, v [batch, slots, kvHeads, dim]
//   out [batch, count, heads * dim]
//
// Query i of sequence b sees the slots 0 ... before[b] + i. No two blocks share what they read, and
// no block leaves keys to another: what better kernels do. half.go defines MAX_DIM; dim is even.

#include <cuda_fp16.h>
#include <early.h>

constexpr int WARPS = 4, PAIRS = MAX_DIM / 64; // pairs of numbers of a row that a lane has
constexpr int AHEAD = 4;                       // keys of a warp that are on their way together
constexpr unsigned EVERYONE = 0xffffffff;

// Lane l has the pairs l, l + 32, ... of a row; zeros behind its end.
__device__ void load(float2 (&to)[PAIRS], const __half *row, int dim) {
#pragma unroll
    for (int p = 0; p < PAIRS; p++) {
        const int x = 2 * (threadIdx.x % 32 + 32 * p);
        to[p] = make_float2(0, 0);
        if (x < dim) to[p] = __half22float2(*(const __half2 *)(row + x));
    }
}

extern "C" __global__ void __launch_bounds__(WARPS * 32)
    attend(const __half *q, const __half *k, const __half *v, __half *out, const int *before,
           int count, int heads, int kvHeads, int slots, int dim, float scale) {
    __shared__ float largests[WARPS], sums[WARPS];
    __shared__ float2 means[WARPS][PAIRS * 32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const size_t row = blockIdx.x; // of q
    const int i = row % count, head = row / count % heads;
    const size_t sequence = row / count / heads, token = (size_t)kvHeads * dim;
    const size_t first = sequence * slots * token + head / (heads / kvHeads) * dim;
    waitForInputs();
    // A graph may be launched once too often: never read beyond the cache.
    const int keys = min(slots, max(0, before[sequence] + i + 1));

    float2 query[PAIRS], mean[PAIRS] = {};
    load(query, q + row * dim, dim);
    float largest = -INFINITY, sum = 0;
    for (int turn = warp; turn < keys; turn += AHEAD * WARPS) {
        float2 key[AHEAD][PAIRS], value[AHEAD][PAIRS];
#pragma unroll
        for (int a = 0; a < AHEAD; a++) {
            const size_t at = first + min(turn + a * WARPS, keys - 1) * token;
            load(key[a], k + at, dim);
            load(value[a], v + at, dim);
        }
#pragma unroll
        for (int a = 0; a < AHEAD; a++) {
            if (turn + a * WARPS >= keys) break; // the whole warp
            float score = 0;
#pragma unroll
            for (int p = 0; p < PAIRS; p++)
                score += query[p].x * key[a][p].x + query[p].y * key[a][p].y;
            for (int lanes = 16; lanes > 0; lanes /= 2)
                score += __shfl_xor_sync(EVERYONE, score, lanes);
            score *= scale;
            const float most = fmaxf(largest, score);
            const float again = expf(largest - most), weight = expf(score - most);
            largest = most, sum = sum * again + weight;
#pragma unroll
            for (int p = 0; p < PAIRS; p++) {
                mean[p].x = mean[p].x * again + weight * value[a][p].x;
                mean[p].y = mean[p].y * again + weight * value[a][p].y;
            }
        }
    }

    // The warps' results; one without a key counts 0 times.
    if (lane == 0) largests[warp] = largest, sums[warp] = sum;
#pragma unroll
    for (int p = 0; p < PAIRS; p++) means[warp][p * 32 + lane] = mean[p];
    __syncthreads(); // all warps' results are there
    float most = largests[0], whole = 0;
    for (int w = 1; w < WARPS; w++) most = fmaxf(most, largests[w]);
    for (int w = 0; w < WARPS; w++)
        if (sums[w] != 0) whole += sums[w] * expf(largests[w] - most);
    __half *y = out + ((sequence * count + i) * heads + head) * dim;
    for (int pair = threadIdx.x; pair < dim / 2; pair += WARPS * 32) {
        float2 all = make_float2(0, 0);
        for (int w = 0; w < WARPS; w++) {
            if (sums[w] == 0) continue;
            const float by = expf(largests[w] - most) / whole;
            all.x += by * means[w][pair].x, all.y += by * means[w][pair].y;
        }
        *(__half2 *)(y + 2 * pair) = __floats2half2_rn(all.x, all.y);
    }
}
