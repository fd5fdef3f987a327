// out = softmax(q * k^T / sqrt(DIM)) * v in halves, in one kernel; sums are float32. For each head,
// q and out are [seqQ, DIM], k and v are [seqK, DIM], one head after another in memory. group query
// heads in a row share a key head.
//
// Go compiles this file once for each type and dimension. It defines DIM (64 or 128), and BRAIN for
// bfloat16. You may change that, the name and the parameters, together with halves.go. Inline PTX
// is allowed in this task: asm statements in __device__ functions.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#ifdef BRAIN
typedef __nv_bfloat16 Half;
#else
typedef __half Half;
#endif

extern "C" __global__ void attention(const Half *q, const Half *k, const Half *v, Half *out,
                                     int seqQ, int seqK, int group, int causal, float scale) {
    // Yours to write.
}
