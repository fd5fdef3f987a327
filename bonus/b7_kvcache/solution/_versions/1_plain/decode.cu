// Decoding from a cache of 8 or 4 bits, the plain way: a block for each query head, which takes 128
// keys at a time. A thread computes a key's score by itself, then one number of the output. So each
// code is made a number as often as there are query heads that share it.
//
//   q, out [batch, heads, DIM] of halves          lengths [batch]
//   codes of k and v [batch, kvHeads, slots, DIM] of BITS
//   8 bits: scales of k and v [batch, kvHeads, slots]; a number is code * scale
//   4 bits: scales and lows of v [batch, kvHeads, slots], of k [batch, kvHeads, slots / GROUP,
//           DIM]; a number is code * scale + low, rounded once to a half. Tokens of the open group,
//           which has fewer than GROUP, are halves [batch, kvHeads, GROUP, DIM]
//
// The host defines DIM (64 or 128) and BITS.

constexpr int WARPS = 4, THREADS = 32 * WARPS; // as many threads as keys of a tile
constexpr int HEADS = 1;                       // query heads of a block
#include "plain.cuh"

constexpr int GROUP = 32; // tokens of 4 bits that are quantised together

// A cache, as the host gives it. 8 bits have no lows, and no open group.
struct Cache {
    const unsigned char *k, *v;
    const __half *kScales, *kLows, *vScales, *vLows, *kOpen, *vOpen;
};

// Where a token's number x is, of a pair: a key head of a sequence that has so many slots.
struct Place {
    size_t pair, slots;
    int slot, x;
    __device__ size_t token() const { return pair * slots + slot; }
    __device__ size_t channel() const { return (pair * (slots / GROUP) + slot / GROUP) * DIM + x; }
    __device__ size_t open() const { return (pair * GROUP + slot % GROUP) * DIM + x; }
};

// A code of a token: of 4 bits the first of two is in a byte's low half.
__device__ int codeOf(const unsigned char *codes, size_t token, int x) {
#if BITS == 8
    return (signed char)codes[token * DIM + x];
#else
    return codes[token * (DIM / 2) + x / 2] >> x % 2 * 4 & 15;
#endif
}

// A number of the cache. Tokens from closed on are in the open group.
__device__ float key(const Cache &c, const Place &at, int closed) {
    const int code = codeOf(c.k, at.token(), at.x);
    if (BITS == 8) return code * __half2float(c.kScales[at.token()]);
    if (at.slot >= closed) return __half2float(c.kOpen[at.open()]);
    return __half2float(
        __hfma(__int2half_rn(code), c.kScales[at.channel()], c.kLows[at.channel()]));
}
__device__ float value(const Cache &c, const Place &at, int closed) {
    const int code = codeOf(c.v, at.token(), at.x);
    if (BITS == 8) return code * __half2float(c.vScales[at.token()]);
    if (at.slot >= closed) return __half2float(c.vOpen[at.open()]);
    return __half2float(__hfma(__int2half_rn(code), c.vScales[at.token()], c.vLows[at.token()]));
}

// scale is log2(e) / sqrt(DIM): 2^x takes one instruction, e^x two.
extern "C" __global__ void __launch_bounds__(THREADS)
    decode(const __half *q, const unsigned char *k, const unsigned char *v, const __half *kScales,
           const __half *vScales, const __half *kLows, const __half *vLows, const __half *kOpen,
           const __half *vOpen, const int *lengths, __half *out, int slots, int heads, int kvHeads,
           float scale) {
    __shared__ float query[DIM], weights[THREADS], room[THREADS];
    const int sequence = blockIdx.x / heads, head = blockIdx.x % heads;
    // Read here: a recorded launch sees today's.
    const int length = min(max(lengths[sequence], 0), slots);
    const int closed = BITS == 4 ? length / GROUP * GROUP : length;
    const Cache cache = {k, v, kScales, kLows, vScales, vLows, kOpen, vOpen};
    const size_t pair = (size_t)sequence * kvHeads + head / (heads / kvHeads);
    const auto place = [&](int slot, int x) { return Place{pair, (size_t)slots, slot, x}; };
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
            for (int x = 0; x < DIM; x++) score += query[x] * key(cache, place(slot, x), closed);
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
                acc += weights[j] * value(cache, place(first + j, threadIdx.x), closed);
        }
        __syncthreads(); // the weights are used up
    }
    if (threadIdx.x < DIM) out[threadIdx.x] = __float2half_rn(sum == 0 ? 0 : acc / sum);
}
