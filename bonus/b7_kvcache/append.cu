// One new token a sequence is written to a cache of 8 or 4 bits. k and v are [batch, kvHeads, DIM];
// source.go says what the other arrays are.
//
// Go compiles this file once for each format and dimension. It defines DIM (64 or 128) and BITS (8
// or 4). You may change that, the name and the parameters, together with cache.go.

#include <cuda_fp16.h>

extern "C" __global__ void append(const __half *k, const __half *v, const int *lengths, int slots) {
    // Yours to write.
}
