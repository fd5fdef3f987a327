// Decoding the plain way: a block for each query head, which takes 128 keys at a time. A thread
// computes a key's score by itself, then one number of the output.

#include <cuda_fp16.h>

constexpr int WARPS = 4, THREADS = 32 * WARPS; // as many threads as keys of a tile
constexpr int HEADS = 1;                       // query heads of a block
static_assert(DIM <= THREADS, "a thread has one number of the output");

// The largest, or the sum, of a block's numbers, for all of its threads.
__device__ float largestOf(float x, float *room) {
    room[threadIdx.x] = x;
    for (int n = THREADS / 2; n > 0; n /= 2) {
        __syncthreads(); // the other half has written
        if (threadIdx.x < n) room[threadIdx.x] = fmaxf(room[threadIdx.x], room[threadIdx.x + n]);
    }
    __syncthreads(); // the result is there
    x = room[0];
    __syncthreads(); // everyone has read it: room may be used again
    return x;
}
__device__ float sumOf(float x, float *room) {
    room[threadIdx.x] = x;
    for (int n = THREADS / 2; n > 0; n /= 2) {
        __syncthreads(); // the other half has written
        if (threadIdx.x < n) room[threadIdx.x] += room[threadIdx.x + n];
    }
    __syncthreads(); // the result is there
    x = room[0];
    __syncthreads(); // everyone has read it: room may be used again
    return x;
}

// The attention of one query, to one row of out. key(slot, x) and value(slot, x) are the numbers of
// the cache. scale is log2(e) / sqrt(DIM): 2^x takes one instruction, e^x two.
template <typename Key, typename Value>
__device__ void attend(const __half *q, __half *out, int length, float scale, Key key,
                       Value value) {
    __shared__ float query[DIM], weights[THREADS], room[THREADS];
    if (threadIdx.x < DIM) query[threadIdx.x] = __half2float(q[threadIdx.x]) * scale;
    __syncthreads(); // the query is there

    float acc = 0, largest = -INFINITY, sum = 0;
    for (int first = 0; first < length; first += THREADS) {
        // 1. A score for each thread.
        const int slot = first + threadIdx.x;
        float score = -INFINITY;
        if (slot < length) {
            score = 0;
            for (int x = 0; x < DIM; x++) score += query[x] * key(slot, x);
        }
        // 2. The online softmax: a larger maximum rescales what was summed before. The first slot
        //    of a tile is filled, so the maximum is finite.
        const float most = fmaxf(largest, largestOf(score, room));
        const float rescale = exp2f(largest - most), weight = exp2f(score - most);
        largest = most;
        sum = sum * rescale + sumOf(weight, room);
        weights[threadIdx.x] = weight;
        __syncthreads(); // all weights are there
        // 3. A number of the output for each thread.
        if (threadIdx.x < DIM) {
            acc *= rescale;
            for (int j = 0; j < min(THREADS, length - first); j++)
                acc += weights[j] * value(first + j, threadIdx.x);
        }
        __syncthreads(); // the weights are used up
    }
    if (threadIdx.x < DIM) out[threadIdx.x] = __float2half_rn(sum == 0 ? 0 : acc / sum);
}
