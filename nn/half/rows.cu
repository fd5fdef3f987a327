// Kernels that copy, or work on, one piece of eight halves at a time: widths are multiples of 8.

#include <cuda_fp16.h>
#include <early.h>

__device__ size_t thisThread() {
    return (size_t)blockIdx.x * blockDim.x + threadIdx.x;
}

// out [rows, pieces] from table [vocabulary, pieces]. A token that is not in the table becomes NaN,
// which no later step can hide.
extern "C" __global__ void embed(uint4 *out, const int *tokens, const uint4 *table, int rows,
                                 int pieces, int vocabulary) {
    const size_t i = thisThread();
    waitForInputs();
    if (i >= (size_t)rows * pieces) return;
    const int token = tokens[i / pieces];
    const unsigned nan = 0x7fff7fff;
    out[i] = 0 <= token && token < vocabulary ? table[(size_t)token * pieces + i % pieces]
                                              : make_uint4(nan, nan, nan, nan);
}

// out [batch, pieces] from x [batch, count, pieces]: each sequence's last row.
extern "C" __global__ void last_rows(uint4 *out, const uint4 *x, int batch, int count, int pieces) {
    const size_t i = thisThread();
    waitForInputs();
    if (i >= (size_t)batch * pieces) return;
    out[i] = x[(i / pieces * count + count - 1) * pieces + i % pieces];
}

// dst [batch, inner, outer, pieces] from src [batch, outer, inner, pieces].
extern "C" __global__ void swap_middle(uint4 *dst, const uint4 *src, int batch, int outer,
                                       int inner, int pieces) {
    const size_t i = thisThread();
    waitForInputs();
    if (i >= (size_t)batch * outer * inner * pieces) return;
    const size_t line = i / pieces; // of dst
    const size_t o = line % outer, n = line / outer % inner, sequence = line / outer / inner;
    dst[i] = src[((sequence * outer + o) * inner + n) * pieces + i % pieces];
}

// dst [rows, to] from src [rows, from], to >= from: zeros behind each row.
extern "C" __global__ void widen(uint4 *dst, const uint4 *src, int rows, int from, int to) {
    const size_t i = thisThread();
    waitForInputs();
    if (i >= (size_t)rows * to) return;
    const int piece = i % to;
    dst[i] = piece < from ? src[i / to * from + piece] : make_uint4(0, 0, 0, 0);
}

// out [rows, pieces] = silu(gate) * up, of both [rows, 2 * pieces]: gate, then up.
extern "C" __global__ void swiglu(uint4 *out, const uint4 *both, int rows, int pieces) {
    const size_t i = thisThread();
    waitForInputs();
    if (i >= (size_t)rows * pieces) return;
    const uint4 *gate = both + i / pieces * 2 * pieces + i % pieces;
    union {
        uint4 all;
        __half2 two[4];
    } g = {gate[0]}, u = {gate[pieces]};
#pragma unroll
    for (int p = 0; p < 4; p++) {
        const float2 x = __half22float2(g.two[p]), y = __half22float2(u.two[p]);
        // expf overflows to infinity, and gives 0.
        g.two[p] =
            __floats2half2_rn(x.x / (1.0f + expf(-x.x)) * y.x, x.y / (1.0f + expf(-x.y)) * y.y);
    }
    out[i] = g.all;
}
