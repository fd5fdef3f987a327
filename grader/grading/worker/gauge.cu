// What the timing itself needs: work whose size is known, a look at outputs, and the
// one step of unfused attention that the vendor's library lacks. gauge.go defines BLOCK,
// the threads of a block, and ADDS, the multiply-adds of a round.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#define WARPS (BLOCK / 32)

// Counts what is NaN or infinite among floats of 1, 2 or 4 bytes, which have all the bits of
// infinity then: an element that nobody wrote still holds the NaN that it was poisoned with.
extern "C" __global__ void count_bad(const void *x, long long n, int bytes, unsigned infinity,
                                     unsigned *bad) {
    const long long step = (long long)gridDim.x * blockDim.x;
    unsigned mine = 0;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        const unsigned bits = bytes == 1   ? ((const unsigned char *)x)[i]
                              : bytes == 2 ? ((const unsigned short *)x)[i]
                                           : ((const unsigned *)x)[i];
        if ((bits & infinity) == infinity) mine++;
    }
    if (mine > 0) atomicAdd(bad, mine);
}

// Float16, or bfloat16 where brain, as float32; and the other way, to the nearest.
extern "C" __global__ void widen(float *to, const void *from, long long n, int brain) {
    const long long step = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        to[i] = brain ? __bfloat162float(((const __nv_bfloat16 *)from)[i])
                      : __half2float(((const __half *)from)[i]);
}
extern "C" __global__ void narrow(void *to, const float *from, long long n, int brain) {
    const long long step = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        if (brain)
            ((__nv_bfloat16 *)to)[i] = __float2bfloat16_rn(from[i]);
        else
            ((__half *)to)[i] = __float2half_rn(from[i]);
    }
}

// rounds × ADDS multiply-adds a thread, on eight chains that do not wait for each
// other. The test at the end never holds, which the compiler cannot know.
extern "C" __global__ void multiply_add(unsigned *x, int rounds, float factor) {
    float a[8];
    for (int i = 0; i < 8; i++) a[i] = (float)threadIdx.x + i;
    for (int r = 0; r < rounds; r++) {
#pragma unroll
        for (int i = 0; i < ADDS; i++) a[i % 8] = a[i % 8] * factor + 1.0f;
    }
    float sum = 0;
    for (int i = 0; i < 8; i++) sum += a[i];
    if (sum == 0.1234f) x[0] = 1;
}

// Reads n pieces of 16 bytes, four at a time. They are all zero, which the compiler
// cannot know, so nothing is ever written.
extern "C" __global__ void read_through(const unsigned *x, long long n, unsigned *never) {
    const uint4 *from = (const uint4 *)x;
    const long long step = (long long)gridDim.x * blockDim.x;
    unsigned seen = 0;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += 4 * step) {
#pragma unroll
        for (int j = 0; j < 4; j++) {
            if (i + j * step >= n) continue;
            const uint4 v = from[i + j * step];
            seen |= v.x | v.y | v.z | v.w;
        }
    }
    if (seen != 0) never[0] = seen;
}

__device__ float warp_max(float x) {
    for (int step = 16; step > 0; step /= 2) x = fmaxf(x, __shfl_xor_sync(~0u, x, step));
    return x;
}

__device__ float warp_sum(float x) {
    for (int step = 16; step > 0; step /= 2) x += __shfl_xor_sync(~0u, x, step);
    return x;
}

// A row of scores as softmax needs it: its first key that is seen, the one behind the last, the
// largest score, and what each power is to be multiplied by.
struct Row {
    int begin, end;
    float largest, inverse;
};

// Row belongs to query number `query` of its head; a causal one sees the keys up to its own place,
// counted from the end; with a window, of these only the last so many. The whole block asks.
__device__ Row row_of(const float *row, int query, int queries, int keys, int causal, int window) {
    __shared__ float shared[2 * WARPS];
    const int end = causal ? min(keys, query + 1 + keys - queries) : keys;
    const int begin = window ? max(0, end - window) : 0;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;

    float largest = -INFINITY;
    for (int j = begin + threadIdx.x; j < end; j += blockDim.x) largest = fmaxf(largest, row[j]);
    largest = warp_max(largest);
    if (lane == 0) shared[warp] = largest;
    __syncthreads(); // all warps' maxima are there
    for (int w = 0; w < WARPS; w++) largest = fmaxf(largest, shared[w]);

    float sum = 0;
    for (int j = begin + threadIdx.x; j < end; j += blockDim.x) sum += __expf(row[j] - largest);
    sum = warp_sum(sum);
    if (lane == 0) shared[WARPS + warp] = sum;
    __syncthreads(); // all warps' sums are there
    sum = 0;
    for (int w = 0; w < WARPS; w++) sum += shared[WARPS + w];
    return {begin, end, largest, 1.0f / sum};
}

// Softmax of one row of scores [rows, keys] a block, in place: that of query (first + row) %
// queries of its head. Keys that it does not see become 0.
extern "C" __global__ void __launch_bounds__(BLOCK)
    softmax_rows(float *scores, long long first, int queries, int keys, int causal, int window) {
    float *row = scores + (long long)blockIdx.x * keys;
    const int query = (int)((first + blockIdx.x) % queries);
    const Row r = row_of(row, query, queries, keys, causal, window);
    for (int j = threadIdx.x; j < keys; j += blockDim.x)
        row[j] = r.begin <= j && j < r.end ? __expf(row[j] - r.largest) * r.inverse : 0.0f;
}

// The same, written as halves to a place of their own; bfloat16 where brain.
extern "C" __global__ void __launch_bounds__(BLOCK)
    softmax_narrow(void *to, const float *scores, int queries, int keys, int causal, int window,
                   int brain) {
    const long long from = (long long)blockIdx.x * keys;
    const float *row = scores + from;
    const Row r = row_of(row, blockIdx.x % queries, queries, keys, causal, window);
    for (int j = threadIdx.x; j < keys; j += blockDim.x) {
        const bool seen = r.begin <= j && j < r.end;
        const float p = seen ? __expf(row[j] - r.largest) * r.inverse : 0.0f;
        if (brain)
            ((__nv_bfloat16 *)to)[from + j] = __float2bfloat16_rn(p);
        else
            ((__half *)to)[from + j] = __float2half_rn(p);
    }
}
