// One step of decoding against a cache of 8 or 4 bits; sums are float32. q and out are
// [batch, heads, DIM]; source.go says what the cache is. heads / kvHeads query heads in a row share
// a key head.
//
// Go compiles this file once for each format and dimension. It defines DIM (64 or 128) and BITS (8
// or 4). You may change that, the name and the parameters, together with cache.go. Inline PTX is
// allowed in this task: asm statements in __device__ functions.

#include <cuda_fp16.h>

extern "C" __global__ void decode(const __half *q, const int *lengths, __half *out, int slots,
                                  int heads, int kvHeads, float scale) {
    // Yours to write.
}
