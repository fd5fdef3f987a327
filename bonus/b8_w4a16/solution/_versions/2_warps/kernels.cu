// Products of weights of four bits, which laid.cuh describes.
//
// The second rung: nothing decoded leaves a register. Warps share out k. Every row of x decodes
// the weights anew.

#include "decoded.cuh"

// ---- one row, weights as they are -----------------------------------------------------------

constexpr int WARPS = 4; // that share out k

// A block has an output. A lane has 16 bytes of it at a time, which are 32 numbers of one group.
extern "C" __global__ __launch_bounds__(WARPS * 32) void row(const __half *x, const uint4 *codes,
                                                             const __half *scales,
                                                             const unsigned char *zeros, __half *y,
                                                             int k, int n) {
    __shared__ float sums[WARPS];
    const size_t output = blockIdx.x;
    float sum = 0;
    for (int at = threadIdx.x; at < k / 32; at += WARPS * 32) {
        const uint4 w = codes[output * (k / 32) + at];
        const size_t group = output * (k / GROUP) + at / (GROUP / 32);
        const unsigned words[4] = {w.x, w.y, w.z, w.w}, zero = twice(zeros[group]);
        const uint4 *from = reinterpret_cast<const uint4 *>(x + at * 32);
        float part = 0;
#pragma unroll
        for (int i = 0; i < 4; i++) part = eight(part, words[i], zero, from[i]);
        sum = fmaf(__half2float(scales[group]), part, sum);
    }
    for (int apart = 16; apart > 0; apart /= 2) sum += __shfl_xor_sync(EVERYONE, sum, apart);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
    __syncthreads(); // every warp's sum is there
    if (threadIdx.x > 0) return;
    for (int i = 1; i < WARPS; i++) sum += sums[i];
    y[output] = __float2half_rn(sum);
}

// ---- many rows, laid weights ----------------------------------------------------------------

constexpr int ROWS = 1; // of x that a block has

#include "rows.cuh"
