// Decoding in halves, the plain way: a block for each query head, which takes 128 keys at a time. A
// thread computes a key's score by itself, then one number of the output.

constexpr int WARPS = 4, THREADS = 32 * WARPS; // as many threads as keys of a tile
constexpr int HEADS = 1;                       // query heads of a block
#include "rows.cuh"
static_assert(DIM <= THREADS, "a thread has one number of the output");

// scale is log2(e) / sqrt(DIM): 2^x takes one instruction, e^x two.
extern "C" __global__ void __launch_bounds__(THREADS)
    decode(const Half *q, const Half *k, const Half *v, const int *lengths, Half *out, int slots,
           int heads, int kvHeads, float scale) {
    __shared__ float query[DIM], weights[THREADS], room[THREADS];
    const int sequence = blockIdx.x / heads, head = blockIdx.x % heads;
    // Read here: a recorded launch sees today's.
    const int length = min(max(lengths[sequence], 0), slots);
    const int pitch = kvHeads * DIM;
    const size_t cache = ((size_t)sequence * slots * kvHeads + head / (heads / kvHeads)) * DIM;
    k += cache, v += cache, q += (size_t)blockIdx.x * DIM, out += (size_t)blockIdx.x * DIM;
    if (threadIdx.x < DIM) query[threadIdx.x] = wide(q[threadIdx.x]) * scale;
    __syncthreads(); // the query is there

    float acc = 0, largest = -INFINITY, sum = 0;
    for (int first = 0; first < length; first += THREADS) {
        // 1. A score for each thread.
        const int slot = first + threadIdx.x;
        float score = -INFINITY;
        if (slot < length) {
            score = 0;
            for (int x = 0; x < DIM; x++) score += query[x] * wide(k[(size_t)slot * pitch + x]);
        }
        // 2. The online softmax: a larger maximum rescales what was summed before. A tile's first
        //    slot is filled, so the maximum is finite.
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
                acc += weights[j] * wide(v[(size_t)(first + j) * pitch + threadIdx.x]);
        }
        __syncthreads(); // the weights are used up
    }
    if (threadIdx.x < DIM) out[threadIdx.x] = narrow(sum == 0 ? 0 : acc / sum);
}
