// One step of decoding in halves; sums are float32. q and out are [batch, heads, DIM], k and v
// [batch, slots, kvHeads, DIM], of which sequence b has its first lengths[b] slots filled. heads /
// kvHeads query heads in a row share a key head.
//
// Go compiles this file once for each type and dimension. It defines DIM (64 or 128), and BRAIN for
// bfloat16. You may change that, the name and the parameters, together with decode.go. Inline PTX
// is allowed in this task: asm statements in __device__ functions.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#ifdef BRAIN
typedef __nv_bfloat16 Half;
#else
typedef __half Half;
#endif

extern "C" __global__ void decode(const Half *q, const Half *k, const Half *v, const int *lengths,
                                  Half *out, int slots, int heads, int kvHeads, float scale) {
    // Yours to write.
}
