// From halves to codes of 8 bits.
//
// Go compiles this file once for each dimension, and defines DIM (64 or 128). You may change that,
// the names and the parameters, together with int8.go.

#include <cuda_fp16.h>
#include <stdint.h>

extern "C" __global__ void tensorCodes(const __half *x, int elements, int8_t *codes,
                                       float *affine) {
    // Yours to write, with a kernel before it that finds the range.
}

extern "C" __global__ void blockCodes(const __half *x, int len, int8_t *codes, float *scales) {
    // Yours to write, with a kernel before it that finds k's means.
}
