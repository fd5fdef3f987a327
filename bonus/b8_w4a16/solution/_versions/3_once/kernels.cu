// Products of weights of four bits, which laid.cuh describes.
//
// The third rung: a lane asks for much at a time, and decodes a weight once for 16 rows of x.

#include "decoded.cuh"

// ---- one row, weights as they are -----------------------------------------------------------

constexpr int WARPS = 8, OUTPUTS = 2, AHEAD = 4;

// A warp has two outputs. A lane asks for 16 bytes of both, four times over, before it needs the
// first.
extern "C" __global__ __launch_bounds__(WARPS * 32) void row(const __half *x, const uint4 *codes,
                                                             const __half *scales,
                                                             const unsigned char *zeros, __half *y,
                                                             int k, int n) {
    const int lane = threadIdx.x % 32;
    const int first = (blockIdx.x * WARPS + threadIdx.x / 32) * OUTPUTS;
    float sums[OUTPUTS] = {};
    for (int from = lane; from < k / 32; from += AHEAD * 32) {
        uint4 w[AHEAD][OUTPUTS] = {};
        float scale[AHEAD][OUTPUTS] = {};
        unsigned zero[AHEAD][OUTPUTS] = {};
#pragma unroll
        for (int i = 0; i < AHEAD * OUTPUTS; i++) {
            const int a = i / OUTPUTS, o = i % OUTPUTS, at = from + a * 32;
            const size_t output = min(first + o, n - 1);
            const size_t group = output * (k / GROUP) + at / (GROUP / 32);
            if (at >= k / 32) continue;
            w[a][o] = codes[output * (k / 32) + at];
            scale[a][o] = __half2float(scales[group]);
            zero[a][o] = twice(zeros[group]);
        }
#pragma unroll
        for (int a = 0; a < AHEAD; a++) {
            const int at = from + a * 32;
            if (at >= k / 32) break;
            const uint4 *eights = reinterpret_cast<const uint4 *>(x + at * 32);
#pragma unroll
            for (int o = 0; o < OUTPUTS; o++) {
                const unsigned words[4] = {w[a][o].x, w[a][o].y, w[a][o].z, w[a][o].w};
                float part = 0;
#pragma unroll
                for (int i = 0; i < 4; i++) part = eight(part, words[i], zero[a][o], eights[i]);
                sums[o] = fmaf(scale[a][o], part, sums[o]);
            }
        }
    }
    for (int o = 0; o < OUTPUTS; o++) {
        for (int apart = 16; apart > 0; apart /= 2)
            sums[o] += __shfl_xor_sync(EVERYONE, sums[o], apart);
        if (lane == 0 && first + o < n) y[first + o] = __float2half_rn(sums[o]);
    }
}

// ---- many rows, laid weights ----------------------------------------------------------------

constexpr int ROWS = 16; // of x that a block has

#include "rows.cuh"
