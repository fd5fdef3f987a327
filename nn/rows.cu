// Kernels that copy rows: embeddings, the last token of each sequence, and moving heads
// together or apart. A thread has one number of the result, or four of them where heads move.
//
// Tokens and positions come from device memory, where the host cannot check them. One
// that is not in the table becomes NaN, which no later step can hide.

#define MISSING __int_as_float(0x7fc00000) // NaN

__device__ size_t thisThread() {
    return (size_t)blockIdx.x * blockDim.x + threadIdx.x;
}

__device__ float lookUp(const float *table, int row, int rows, int width, int column) {
    return 0 <= row && row < rows ? table[(size_t)row * width + column] : MISSING;
}

// out [rows, width] from table [vocabulary, width].
extern "C" __global__ void embed(float *out, const int *tokens, const float *table, int rows,
                                 int width, int vocabulary) {
    const size_t i = thisThread();
    if (i >= (size_t)rows * width) return;
    out[i] = lookUp(table, tokens[i / width], vocabulary, width, i % width);
}

// out [batch, count, width]; token i of sequence b has position before[b] + i, and
// positions is [longest, width].
extern "C" __global__ void embed_positions(float *out, const int *tokens, const float *table,
                                           const float *positions, const int *before, int batch,
                                           int count, int width, int vocabulary, int longest) {
    const size_t i = thisThread();
    if (i >= (size_t)batch * count * width) return;
    const size_t row = i / width;
    const int column = i % width;
    const int position = before[row / count] + (int)(row % count);
    out[i] = lookUp(table, tokens[row], vocabulary, width, column) +
             lookUp(positions, position, longest, width, column);
}

// out [batch, width] from x [batch, count, width].
extern "C" __global__ void last_rows(float *out, const float *x, int batch, int count, int width) {
    const size_t i = thisThread();
    if (i >= (size_t)batch * width) return;
    const size_t sequence = i / width;
    out[i] = x[(sequence * count + count - 1) * width + i % width];
}

// Adds the same number to each of counts [batch].
extern "C" __global__ void advance(int *counts, int batch, int by) {
    const size_t i = thisThread();
    if (i < batch) counts[i] += by;
}

// A text goes on with tokens[0], which is kept at its position as well, the length so far:
// after[0]. The next pass begins at before[0] and ends at after[0]. One thread.
extern "C" __global__ void go_on(int *before, int *after, int *tokens, int by, int longest) {
    if (0 <= after[0] && after[0] < longest) tokens[after[0]] = tokens[0];
    before[0] += by, after[0] += 1;
}

// dst [rows, heads, dim] from src [rows, kvHeads, dim]: heads that follow each other get the same.
extern "C" __global__ void repeat_heads(float *dst, const float *src, int rows, int heads,
                                        int kvHeads, int dim) {
    const size_t i = thisThread();
    if (i >= (size_t)rows * heads * dim) return;
    const size_t row = i / dim / heads;
    const int head = i / dim % heads / (heads / kvHeads);
    dst[i] = src[(row * kvHeads + head) * dim + i % dim];
}

#include <early.h>

// dst [batch, inner, outer, dim] from src [batch, outer, inner, dim]. A thread moves one
// number, or four neighbours if wide: then dim is a multiple of 4, and both tensors start at
// multiples of 16 bytes. A block's numbers are of one line [inner, dim] of src.
extern "C" __global__ void swap_middle(float *dst, const float *src, int outer, int inner, int dim,
                                       int wide) {
    const int each = wide ? 4 : 1, pieces = inner * dim / each;
    const int blocks = (pieces + blockDim.x - 1) / blockDim.x; // of a line
    const int line = blockIdx.x / blocks, piece = blockIdx.x % blocks * blockDim.x + threadIdx.x;
    waitForInputs();
    if (piece >= pieces) return;
    const int n = piece * each / dim, x = piece * each % dim;
    const size_t sequence = line / outer, o = line % outer;
    const float *from = src + (size_t)line * inner * dim + piece * each;
    float *to = dst + ((sequence * inner + n) * outer + o) * dim + x;
    if (wide)
        *(float4 *)to = *(const float4 *)from;
    else
        *to = *from;
}
