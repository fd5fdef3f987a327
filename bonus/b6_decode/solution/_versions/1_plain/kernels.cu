// Decoding in halves, the plain way: a block for each query head, which takes 128 keys at a time. A
// thread computes a key's score by itself, then one number of the output.
//
//   q, out [batch, heads, DIM]      k, v [batch, slots, kvHeads, DIM]      lengths [batch]
//
// The host defines DIM (64 or 128), and BRAIN for bfloat16.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#ifdef BRAIN
typedef __nv_bfloat16 Half;
__device__ float wide(Half x) {
    return __bfloat162float(x);
}
__device__ Half narrow(float x) {
    return __float2bfloat16_rn(x);
}
#else
typedef __half Half;
__device__ float wide(Half x) {
    return __half2float(x);
}
__device__ Half narrow(float x) {
    return __float2half_rn(x);
}
#endif

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
        // 2. The online softmax: a larger maximum rescales what was summed before. The first slot
        // of a
        //    tile is filled, so the maximum is finite.
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
