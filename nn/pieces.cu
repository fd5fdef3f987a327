// Each float32 number as two halves, for the tensor cores: x * scale = high + low.
//
// A half has 11 bits, so high and low together have 22 of float32's 24. Halves only reach
// from 2^-24 to 2^16. So each line of a matrix has its own scale, a power of two that
// brings its largest number to between 2^14 and 2^15. A number 2^18 times smaller than
// that still has all 22 bits; an even smaller one is exact to 2^-39 of the line's
// largest. An infinity makes its line's results NaN.
//
// The halves take up the space of the floats they come from. For every SLAB numbers of a
// line, the high halves come first, then the low ones. So a step of product.cu reads
// 128 consecutive bytes of a line. Zeros, which add nothing to a sum, fill up the last
// tile with lines and each line's last slab with numbers.

#include <cuda_fp16.h>
#include <early.h>

// defines.go defines BLOCK, the threads of a block, and SLAB.

#define WARP 32

// 2^n. For n = -127 it is 2^-126, which is small enough for every use here.
__device__ float powerOfTwo(int n) {
    return __int_as_float(max(n + 127, 1) << 23);
}

// The n of the scale 2^n for numbers of which the largest is most; of zeros, the largest possible.
__device__ int scaleFor(float most) {
    return min(14 + 127 - (int)(__float_as_uint(most) >> 23), 126);
}

// Cuts two numbers in two halves each. The high halves, rounded to the nearest, share a register.
// The low ones are what is left when those are subtracted: that difference is exact.
__device__ void cut(float x, float y, unsigned &high, unsigned &low) {
    const __half2 h = __floats2half2_rn(x, y);
    const float2 rounded = __half22float2(h);
    const __half2 l = __floats2half2_rn(x - rounded.x, y - rounded.y);
    high = *(unsigned *)&h, low = *(unsigned *)&l;
}

// Four neighbouring numbers of a line, from k on; zeros beyond its end. wide says that
// lines start at multiples of 16 bytes.
__device__ float4 load(const float *line, int k, int end, int wide) {
    if (k >= end) return make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if (wide) return *(const float4 *)(line + k);
    return make_float4(line[k], k + 1 < end ? line[k + 1] : 0.0f, k + 2 < end ? line[k + 2] : 0.0f,
                       k + 3 < end ? line[k + 3] : 0.0f);
}

// Turns x [rows, length] and up to three w [width, length] into halves [lines][slabs *
// SLAB] and, for each line, the factor that undoes its scale. There are xLines lines of x
// and wLines of each w, perhaps in whole tiles, and lines in all. A warp handles one line;
// the lines of x come first. It reads the line twice, the second time from the caches.
extern "C" __global__ void __launch_bounds__(BLOCK)
    split_lines(const float *x, const float *w0, const float *w1, const float *w2, float *xHalves,
                float *xBack, float *wHalves, float *wBack, int rows, int xLines, int width,
                int wLines, int lines, int length, int wide) {
    const int lane = threadIdx.x % WARP;
    const int at = blockIdx.x * (BLOCK / WARP) + threadIdx.x / WARP;
    waitForInputs();
    if (at >= lines) return;
    const int whole = (length + SLAB - 1) / SLAB * SLAB;
    const float *from = x + (size_t)at * length;
    float *to = xHalves + (size_t)at * whole, *back = xBack + at;
    bool there = at < rows;
    if (at >= xLines) {
        const int part = (at - xLines) / wLines, line = (at - xLines) % wLines;
        from = (part == 0 ? w0 : part == 1 ? w1 : w2) + (size_t)line * length;
        to = wHalves + (size_t)(at - xLines) * whole, back = wBack + (at - xLines);
        there = line < width;
    }
    const int end = there ? length : 0;

    // 1. The largest number. fmaxf skips a NaN, but its halves become NaN all the same.
    float most = 0.0f;
#pragma unroll 4
    for (int k = lane * 4; k < end; k += WARP * 4) {
        const float4 v = load(from, k, end, wide);
        most = fmaxf(most, fmaxf(fmaxf(fabsf(v.x), fabsf(v.y)), fmaxf(fabsf(v.z), fabsf(v.w))));
    }
    most = __uint_as_float(__reduce_max_sync(0xffffffffu, __float_as_uint(most))); // same order
    const int n = scaleFor(most);
    if (lane == 0) *back = powerOfTwo(-n);

    // 2. The halves: four numbers give 8 bytes of high halves and 8 bytes of low ones.
    const float scale = powerOfTwo(n);
#pragma unroll 4
    for (int k = lane * 4; k < whole; k += WARP * 4) {
        const float4 v = load(from, k, end, wide);
        uint2 high, low;
        cut(v.x * scale, v.y * scale, high.x, low.x);
        cut(v.z * scale, v.w * scale, high.y, low.y);
        float *slab = to + k / SLAB * SLAB + k % SLAB / 2;
        *(uint2 *)slab = high, *(uint2 *)(slab + SLAB / 2) = low;
    }
}
