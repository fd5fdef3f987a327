// Products y = x Wᵀ with weights of four bits, in groups of 128 along k: (code - zero) * scale.
//
//   x       [rows, k] of halves               codes   [n, k / 2], the first of two in the low half
//   y       [rows, n] of halves               scales  [n, k / 128] of halves
//                                             zeros   [n, k / 128], the low half of a byte
//
// Names and parameters are yours to change, together with w4a16.go.

#include <cuda_fp16.h>

extern "C" __global__ void lay(const unsigned *codes, const __half *scales,
                               const unsigned char *zeros, unsigned *laidCodes, __half *laidScales,
                               unsigned char *laidZeros, int k, int n) {
    // Yours to write.
}

extern "C" __global__ void row(const __half *x, const unsigned *codes, const __half *scales,
                               const unsigned char *zeros, __half *y, int k, int n) {
    // Yours to write.
}

extern "C" __global__ void rows(const __half *x, const unsigned *codes, const __half *scales,
                                const unsigned char *zeros, __half *y, int rows, int k, int n) {
    // Yours to write.
}
