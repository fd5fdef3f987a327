// Attention whose scores are products of codes: out = softmax(q * k^T / sqrt(DIM)) * v, in one
// kernel. For each head, q and out are [seqQ, DIM], k and v are [seqK, DIM], one head after another
// in memory. group query heads in a row share a key head.
//
// Go compiles this file once for each way and dimension. It defines DIM (64 or 128), and TENSOR
// where scales are those of whole tensors and v is codes, too. You may change that, the name and
// the parameters, together with int8.go. Inline PTX is allowed in this task.

#include <cuda_fp16.h>
#include <stdint.h>

#ifdef TENSOR
typedef int8_t Value;
#else
typedef __half Value;
#endif

extern "C" __global__ void attention(const int8_t *q, const int8_t *k, const Value *v, __half *out,
                                     const float *qScale, const float *kScale, int seqQ, int seqK,
                                     int group, int causal, float scale) {
    // Yours to write.
}
