// Decoding from a cache of 8 or 4 bits, the plain way: a block for each query head, which takes 128
// keys at a time. A thread computes a key's score by itself, then one number of the output. So each
// code is made a number as often as there are query heads that share it.
//
//   q, out [batch, heads, DIM] of halves          lengths [batch]
//   codes of k and v [batch, kvHeads, slots, DIM] of BITS
//   scales of k and v [batch, kvHeads, slots]; a number is code * scale. 4 bits have lows as well,
//   and a number is code * scale + low, rounded once to a half
//
// This is INT4 by token, which is not the task's: channels of k that are far from 0 widen the range
// that all share. 1_plain is the same kernel for INT4 as KIVI has it. What k has here is less than
// what KIVI's k has, and lies at the beginning of Int4.KScales and Int4.KLows.
//
// The host defines DIM (64 or 128) and BITS.

constexpr int WARPS = 4, THREADS = 32 * WARPS; // as many threads as keys of a tile
constexpr int HEADS = 1;                       // query heads of a block
#include "plain.cuh"

// What k or v is, as the host gives it. 8 bits have no lows.
struct Side {
    const unsigned char *codes;
    const __half *scales, *lows;
};

// Number x of a token. Of 4 bits the first of two codes is in a byte's low half.
__device__ float number(const Side &c, size_t token, int x) {
#if BITS == 8
    return (signed char)c.codes[token * DIM + x] * __half2float(c.scales[token]);
#else
    const int code = c.codes[token * (DIM / 2) + x / 2] >> x % 2 * 4 & 15;
    return __half2float(__hfma(__int2half_rn(code), c.scales[token], c.lows[token]));
#endif
}

// scale is log2(e) / sqrt(DIM): 2^x takes one instruction, e^x two.
extern "C" __global__ void __launch_bounds__(THREADS)
    decode(const __half *q, const unsigned char *k, const unsigned char *v, const __half *kScales,
           const __half *vScales, const __half *kLows, const __half *vLows, const int *lengths,
           __half *out, int slots, int heads, int kvHeads, float scale) {
    __shared__ float query[DIM], weights[THREADS], room[THREADS];
    const int sequence = blockIdx.x / heads, head = blockIdx.x % heads;
    // Read here: a recorded launch sees today's.
    const int length = min(max(lengths[sequence], 0), slots);
    const size_t token0 = ((size_t)sequence * kvHeads + head / (heads / kvHeads)) * slots;
    const Side keys = {k, kScales, kLows}, values = {v, vScales, vLows};
    q += (size_t)blockIdx.x * DIM, out += (size_t)blockIdx.x * DIM;
    if (threadIdx.x < DIM) query[threadIdx.x] = __half2float(q[threadIdx.x]) * scale;
    __syncthreads(); // the query is there

    float acc = 0, largest = -INFINITY, sum = 0;
    for (int first = 0; first < length; first += THREADS) {
        // 1. A score for each thread.
        const int slot = first + threadIdx.x;
        float score = -INFINITY;
        if (slot < length) {
            score = 0;
            for (int x = 0; x < DIM; x++) score += query[x] * number(keys, token0 + slot, x);
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
                acc += weights[j] * number(values, token0 + first + j, threadIdx.x);
        }
        __syncthreads(); // the weights are used up
    }
    if (threadIdx.x < DIM) out[threadIdx.x] = __float2half_rn(sum == 0 ? 0 : acc / sum);
}
