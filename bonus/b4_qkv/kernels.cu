// [q | k | v] = x * [Wq | Wk | Wv] + bias in halves, sums in float32: one product, whose epilogue
// adds the bias, splits and transposes (project). And that epilogue alone, as a kernel (split).
//
//   x [rows, hidden]     w [hidden, outputs]     bias [outputs], if biased
//   q [batch, heads, seq, dim], k and v [batch, kvHeads, seq, dim]; or, with tokensFirst,
//   q [batch, seq, heads, dim] and so on
//
// Go may compile this file once for each type, with a macro that tells them apart. Names and
// parameters are yours to change, together with qkv.go.

#include <cuda_fp16.h>

extern "C" __global__ void split(const __half *projection, const __half *bias, __half *q, __half *k,
                                 __half *v, int rows, int outputs, int seq, int heads, int kvHeads,
                                 int dim, int tokensFirst, int biased) {
    // Yours to write.
}

extern "C" __global__ void project(const __half *x, const __half *w, const __half *bias, __half *q,
                                   __half *k, __half *v, int rows, int hidden, int outputs, int seq,
                                   int heads, int kvHeads, int dim, int tokensFirst, int biased) {
    // Yours to write.
}
