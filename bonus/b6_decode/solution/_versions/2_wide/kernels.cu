// Decoding in halves, 16 bytes at a time: a block for each query head, which takes 128 keys at a
// time. A thread reads a key in DIM / 8 loads; of values, DIM / 8 threads take a row.

constexpr int WARPS = 4, THREADS = 32 * WARPS; // as many threads as keys of a tile
constexpr int HEADS = 1;                       // query heads of a block
#include "rows.cuh"

// scale is log2(e) / sqrt(DIM): 2^x takes one instruction, e^x two.
extern "C" __global__ void __launch_bounds__(THREADS)
    decode(const Half *q, const Half *k, const Half *v, const int *lengths, Half *out, int slots,
           int heads, int kvHeads, float scale) {
    __shared__ float query[DIM], weights[THREADS], room[THREADS], rows[GROUPS][DIM];
    const int sequence = blockIdx.x / heads, head = blockIdx.x % heads;
    // Read here: a recorded launch sees today's.
    const int length = min(max(lengths[sequence], 0), slots);
    const int pitch = kvHeads * DIM;
    const size_t cache = ((size_t)sequence * slots * kvHeads + head / (heads / kvHeads)) * DIM;
    k += cache, v += cache, q += (size_t)blockIdx.x * DIM, out += (size_t)blockIdx.x * DIM;
    if (threadIdx.x < DIM) query[threadIdx.x] = wide(q[threadIdx.x]) * scale;
    __syncthreads(); // the query is there

    const int lane = threadIdx.x % LANES, group = threadIdx.x / LANES;
    Eight acc = {};
    float largest = -INFINITY, sum = 0;
    for (int first = 0; first < length; first += THREADS) {
        // 1. A score for each thread.
        const int slot = first + threadIdx.x;
        float score = -INFINITY;
        if (slot < length) {
            score = 0;
#pragma unroll
            for (int x = 0; x < DIM; x += 8) {
                const Eight key = load(k + (size_t)slot * pitch + x);
#pragma unroll
                for (int i = 0; i < 8; i++) score += query[x + i] * key.x[i];
            }
        }
        // 2. The online softmax: a larger maximum rescales what was summed before. A tile's first
        //    slot is filled, so the maximum is finite.
        const float most = fmaxf(largest, largestOf(score, room));
        const float rescale = exp2f(largest - most), weight = exp2f(score - most);
        largest = most;
        sum = sum * rescale + sumOf(weight, room);
        weights[threadIdx.x] = weight;
        __syncthreads(); // all weights are there
        // 3. Eight numbers of the output for each thread, of every GROUPS-th value.
#pragma unroll
        for (int i = 0; i < 8; i++) acc.x[i] *= rescale;
        for (int j = group; j < min(THREADS, length - first); j += GROUPS) {
            const Eight value = load(v + (size_t)(first + j) * pitch + 8 * lane);
#pragma unroll
            for (int i = 0; i < 8; i++) acc.x[i] += weights[j] * value.x[i];
        }
        __syncthreads(); // the weights are used up
    }
    // 4. The groups' sums, all relative to the same maximum.
#pragma unroll
    for (int i = 0; i < 8; i++) rows[group][8 * lane + i] = acc.x[i];
    __syncthreads(); // all sums are there
    if (threadIdx.x >= DIM) return;
    float all = 0;
    for (int g = 0; g < GROUPS; g++) all += rows[g][threadIdx.x];
    out[threadIdx.x] = narrow(sum == 0 ? 0 : all / sum);
}
