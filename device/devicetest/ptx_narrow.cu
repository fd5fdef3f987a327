// Inline PTX for 8-bit floats and matrices of 16 bits, beside CUDA's own functions: see ptx.cu. It
// takes a GPU from sm_89 on.
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#define CHECK(result, expected)                                                                    \
    got[checks * 32 + lane] = (result), want[checks * 32 + lane] = (expected), checks++
#define DONE got[63 * 32 + lane] = want[63 * 32 + lane] = checks

__device__ int cut(int v, int least, int most) {
    return v < least ? least : v > most ? most : v;
}

// narrow: x [32], any bits; f, g [32], floats of any size.
extern "C" __global__ void narrow(const unsigned *xs, const float *fs, const float *gs,
                                  unsigned *got, unsigned *want) {
    int lane = threadIdx.x, checks = 0;
    unsigned x = xs[lane], r;
    int a = (int)x >> 20, b = (int)(x << 12) >> 22;
    float f = fs[lane], g = gs[lane];
    unsigned short h;
    __half2_raw pair;
    pair.x = (unsigned short)x, pair.y = (unsigned short)(x >> 16);

    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(h) : "f"(f), "f"(g));
    CHECK(h, __nv_cvt_float2_to_fp8x2(make_float2(g, f), __NV_SATFINITE, __NV_E4M3));
    asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(h) : "f"(f), "f"(g));
    CHECK(h, __nv_cvt_float2_to_fp8x2(make_float2(g, f), __NV_SATFINITE, __NV_E5M2));
    asm("cvt.rn.satfinite.relu.e4m3x2.f32 %0, %1, %2;" : "=h"(h) : "f"(f), "f"(g));
    CHECK(h, __nv_cvt_float2_to_fp8x2(make_float2(fmaxf(g, 0), fmaxf(f, 0)), __NV_SATFINITE,
                                      __NV_E4M3));
    asm("cvt.rn.satfinite.e4m3x2.f16x2 %0, %1;" : "=h"(h) : "r"(x));
    CHECK(h, __nv_cvt_halfraw2_to_fp8x2(pair, __NV_SATFINITE, __NV_E4M3));
    asm("cvt.rn.satfinite.e5m2x2.f16x2 %0, %1;" : "=h"(h) : "r"(x));
    CHECK(h, __nv_cvt_halfraw2_to_fp8x2(pair, __NV_SATFINITE, __NV_E5M2));
    asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(r) : "h"((unsigned short)x));
    __half2_raw back = __nv_cvt_fp8x2_to_halfraw2((unsigned short)x, __NV_E4M3);
    CHECK(r, back.x | (unsigned)back.y << 16);
    asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(r) : "h"((unsigned short)x));
    back = __nv_cvt_fp8x2_to_halfraw2((unsigned short)x, __NV_E5M2);
    CHECK(r, back.x | (unsigned)back.y << 16);
    asm("cvt.rn.relu.f16x2.e4m3x2 %0, %1;" : "=r"(r) : "h"((unsigned short)(x & 0x7878)));
    back = __nv_cvt_fp8x2_to_halfraw2((unsigned short)(x & 0x7878), __NV_E4M3);
    CHECK(r, back.x | (unsigned)back.y << 16);
    asm("cvt.rn.relu.f16x2.e5m2x2 %0, %1;" : "=r"(r) : "h"((unsigned short)(x & 0x7878 | 0x8080)));
    CHECK(r, 0u);

    asm("cvt.pack.sat.s16.s32 %0, %1, %2;" : "=r"(r) : "r"((int)x), "r"(b));
    CHECK(r, (unsigned)cut((int)x, -32768, 32767) << 16 | ((unsigned)b & 0xffff));
    asm("cvt.pack.sat.u16.s32 %0, %1, %2;" : "=r"(r) : "r"((int)x), "r"(b));
    CHECK(r, (unsigned)cut((int)x, 0, 65535) << 16 | (unsigned)cut(b, 0, 65535));
    asm("cvt.pack.sat.s8.s32.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(x));
    CHECK(r,
          ((unsigned)cut(b, -128, 127) & 255) | ((unsigned)cut(a, -128, 127) & 255) << 8 | x << 16);
    asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(x));
    CHECK(r, (unsigned)cut(b, 0, 255) | (unsigned)cut(a, 0, 255) << 8 | x << 16);
    asm("cvt.pack.sat.u4.s32.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(x));
    CHECK(r, (unsigned)cut(b, 0, 15) | (unsigned)cut(a, 0, 15) << 4 | x << 8);
    asm("cvt.pack.sat.s2.s32.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(x));
    CHECK(r, ((unsigned)cut(b, -2, 1) & 3) | ((unsigned)cut(a, -2, 1) & 3) << 2 | x << 4);

    // Of a matrix: what lane and half have, the lane of that row and column has.
    __shared__ unsigned short matrix[64];
    matrix[2 * lane] = (unsigned short)x, matrix[2 * lane + 1] = (unsigned short)(x >> 16);
    __syncthreads();
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(r) : "r"(x));
    int row = lane / 4, column = lane % 4 * 2;
    CHECK(r, matrix[8 * column + row] | (unsigned)matrix[8 * (column + 1) + row] << 16);
    DONE;
}

// Registers may be written with two signs.
extern "C" __global__ void signs(unsigned *got, unsigned *want) {
    int lane = threadIdx.x, checks = 0;
    unsigned elected = 0;
    asm volatile("{\n.reg .b32 %%first;\n.reg .pred %%p;\nsetp.eq.u32 %%p, %1, 3;\n"
                 "mov.b32 %%first, 7;\n@%%p mov.b32 %0, %%first;\n}\n"
                 : "+r"(elected)
                 : "r"(lane));
    CHECK(elected, lane == 3 ? 7u : 0u);
    DONE;
}
