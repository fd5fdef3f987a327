// A small Llama's decoding step in pieces: right, plain and slow. One new token of each sequence
// passes; x, y and all other activations are float32, in rows of a sequence each.
//
// Weights are halves, or four bits (weights.cu). Caches: attention.cu.

#include <cuda_fp16.h>

// out[b] = the table's row of sequence b's token.
extern "C" __global__ void embed(float *out, const int *tokens, const __half *table, int batch,
                                 int width, int vocabulary) {
    const int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= batch * width) return;
    const int token = tokens[at / width];
    if (token < 0 || token >= vocabulary) {
        out[at] = NAN;
        return;
    }
    out[at] = __half2float(table[(size_t)token * width + at % width]);
}

// out = x / sqrt(mean of x^2 + eps) * gain, a block of 32 threads for each row.
extern "C" __global__ void rms_norm(float *out, const float *x, const __half *gain, int width,
                                    float eps) {
    const size_t row = (size_t)blockIdx.x * width;
    float sum = 0;
    for (int i = threadIdx.x; i < width; i += 32) sum += x[row + i] * x[row + i];
    for (int other = 16; other > 0; other /= 2) sum += __shfl_xor_sync(0xffffffff, sum, other);
    const float by = 1 / sqrtf(sum / width + eps);
    for (int i = threadIdx.x; i < width; i += 32)
        out[row + i] = x[row + i] * by * __half2float(gain[i]);
}

// y [batch, outputs] = x [batch, inputs] * w [outputs, inputs] transposed; a thread for each
// number.
extern "C" __global__ void multiply(float *y, const float *x, const __half *w, int batch,
                                    int inputs, int outputs) {
    const int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= batch * outputs) return;
    const float *row = x + (size_t)(at / outputs) * inputs;
    const __half *of = w + (size_t)(at % outputs) * inputs;
    float sum = 0;
    for (int i = 0; i < inputs; i++) sum += row[i] * __half2float(of[i]);
    y[at] = sum;
}

// Turns the pair j, j + dim / 2 of each head of the queries and keys in qkv
// [batch, (heads + 2 kvHeads) * dim] by length * base^(-2j / dim).
extern "C" __global__ void rotate(float *qkv, const int *lengths, int batch, int heads, int kvHeads,
                                  int dim, double log2Base) {
    const int at = blockIdx.x * blockDim.x + threadIdx.x, pairs = dim / 2;
    if (at >= batch * (heads + kvHeads) * pairs) return;
    const int j = at % pairs, head = at / pairs % (heads + kvHeads),
              b = at / pairs / (heads + kvHeads);
    float *pair = qkv + ((size_t)b * (heads + 2 * kvHeads) + head) * dim + j;
    const double angle = lengths[b] * exp2(-2.0 * j / dim * log2Base);
    const float c = (float)cos(angle), s = (float)sin(angle), first = pair[0], second = pair[pairs];
    pair[0] = first * c - second * s;
    pair[pairs] = second * c + first * s;
}

// x = x + y
extern "C" __global__ void add(float *x, const float *y, int n) {
    const int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < n) x[at] += y[at];
}

// out [batch, width] = silu(gate) * up, where a row of both has the gate's numbers, then up's.
extern "C" __global__ void gated(float *out, const float *both, int batch, int width) {
    const int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= batch * width) return;
    const float *row = both + (size_t)(at / width) * 2 * width + at % width;
    out[at] = row[0] / (1 + expf(-row[0])) * row[width];
}
