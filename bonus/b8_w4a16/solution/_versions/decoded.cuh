// What the rungs share that decode in registers.

#include "laid.cuh"

// Two codes less their zero, without a conversion. 0x6400 is the half 1024, whose last bit counts
// 1: with a code in its last four bits it is 1024 + code. A code four bits higher counts 16 times.
__device__ unsigned twice(unsigned zero) {
    return (zero & 15) * 0x10001;
}
__device__ __half2 low(unsigned word, unsigned zeros) { // codes at bits 0 and 16
    return __hsub2(halvesOf(word & 0x000f000f | 0x64006400), halvesOf(zeros | 0x64006400));
}
__device__ __half2 high(unsigned word, unsigned zeros) { // codes at bits 4 and 20; 0xd400 is -64
    return __hfma2(halvesOf(word & 0x00f000f0 | 0x64006400), __float2half2_rn(0.0625f),
                   halvesOf(zeros << 4 | 0xd400d400));
}

// sum + eight products: of a word's codes, and of eight numbers of x. Codes that are 16 bits apart
// are number i and number i + 4.
__device__ float eight(float sum, unsigned word, unsigned zeros, const uint4 &x) {
    const float2 a = __half22float2(halvesOf(x.x)), b = __half22float2(halvesOf(x.y));
    const float2 c = __half22float2(halvesOf(x.z)), d = __half22float2(halvesOf(x.w));
    float2 w = __half22float2(low(word, zeros));
    sum = fmaf(w.x, a.x, sum), sum = fmaf(w.y, c.x, sum);
    w = __half22float2(high(word, zeros));
    sum = fmaf(w.x, a.y, sum), sum = fmaf(w.y, c.y, sum);
    w = __half22float2(low(word >> 8, zeros));
    sum = fmaf(w.x, b.x, sum), sum = fmaf(w.y, d.x, sum);
    w = __half22float2(high(word >> 8, zeros));
    return fmaf(w.y, d.y, fmaf(w.x, b.y, sum));
}
