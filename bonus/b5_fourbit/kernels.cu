// Weights of four bits, in blocks that share a scale: read as they are (dequantise), or multiplied
// without ever being written (project): [q | k | v] = x [Wq | Wk | Wv] + bias.
//
//   codes   [outputs, hidden] of four bits       x      [rows, hidden] of halves
//   scales  one a block                          bias   [outputs] of halves
//
// Go may compile this file once for each format, with a macro that tells them apart. Names and
// parameters are yours to change, together with fourbit.go.

#include <cuda_fp16.h>

extern "C" __global__ void dequantise(const unsigned char *codes, const float *scales, float *out,
                                      int count, int row) {
    // Yours to write.
}

extern "C" __global__ void project(const __half *x, const unsigned char *codes, const float *scales,
                                   const __half *bias, __half *q, __half *k, __half *v, int rows,
                                   int hidden, int outputs, int seq, int heads, int kvHeads,
                                   int dim) {
    // Yours to write.
}
