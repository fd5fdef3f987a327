// Inline PTX beside what it should do, in plain CUDA C++: each check writes what the instruction
// gave to got, and what it should give to want, both [checks, threads]. So a GPU proves the right
// sides, and the simulator is held to them.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#define CHECK(result, expected)                                                                    \
    got[checks * 32 + lane] = bitsOf(result), want[checks * 32 + lane] = bitsOf(expected), checks++
// How many there were, in the last row.
#define DONE got[63 * 32 + lane] = want[63 * 32 + lane] = checks

__device__ unsigned bitsOf(unsigned v) {
    return v;
}
__device__ unsigned bitsOf(int v) {
    return (unsigned)v;
}
__device__ unsigned bitsOf(float v) {
    return __float_as_uint(v);
}
__device__ unsigned bitsOf(unsigned long long v) {
    return (unsigned)v ^ (unsigned)(v >> 32) * 31;
}
__device__ unsigned bitsOf(unsigned short v) {
    return v;
}
__device__ unsigned bitsOf(bool v) {
    return v;
}

// integers: x, y, z [32], any bits.
extern "C" __global__ void integers(const unsigned *xs, const unsigned *ys, const unsigned *zs,
                                    unsigned *got, unsigned *want) {
    int lane = threadIdx.x, checks = 0;
    unsigned x = xs[lane], y = ys[lane], z = zs[lane], r;
    unsigned long long wide, w = (unsigned long long)x << 32 | y;
    unsigned short h;
    asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(r) : "r"(x), "r"(y), "r"(z));
    CHECK(r, x ^ y ^ z);
    asm("lop3.b32 %0, %1, %2, %3, (0xf0 & 0xcc) | 0xaa;" : "=r"(r) : "r"(x), "r"(y), "r"(z));
    CHECK(r, (x & y) | z);
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(z & 0x7777));
    CHECK(r, __byte_perm(x, y, z & 0x7777));
    asm("bfe.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y & 31), "r"(z & 31));
    CHECK(r, (z & 31) ? (x >> (y & 31)) & ((1u << (z & 31)) - 1) : 0u);
    asm("bfe.s32 %0, %1, 4, 8;" : "=r"(r) : "r"(x));
    CHECK(r, (int)(signed char)(x >> 4));
    asm("bfi.b32 %0, %1, %2, 8, 12;" : "=r"(r) : "r"(x), "r"(y));
    CHECK(r, (y & ~0xfff00u) | ((x & 0xfffu) << 8));
    asm("shf.l.wrap.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(z));
    CHECK(r, __funnelshift_l(x, y, z));
    asm("shf.r.clamp.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(z & 63));
    CHECK(r, __funnelshift_rc(x, y, z & 63));
    asm("add.u32 %0, %1, %2;\n\tsub.s32 %0, %0, %3;" : "=&r"(r) : "r"(x), "r"(y), "r"(z));
    CHECK(r, x + y - z);
    asm("mad.lo.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(z));
    CHECK(r, x * y + z);
    asm("mul.hi.u32 %0, %1, %2;" : "=r"(r) : "r"(x), "r"(y));
    CHECK(r, __umulhi(x, y));
    asm("mul.wide.s32 %0, %1, %2;" : "=l"(wide) : "r"(x), "r"(y));
    CHECK(wide, (unsigned long long)((long long)(int)x * (int)y));
    asm("mad.wide.u32 %0, %1, %2, %3;" : "=l"(wide) : "r"(x), "r"(y), "l"(w));
    CHECK(wide, (unsigned long long)x * y + w);
    asm("shl.b32 %0, %1, %2;" : "=r"(r) : "r"(x), "r"(z & 63));
    CHECK(r, (z & 63) < 32 ? x << (z & 31) : 0u);
    asm("shr.s32 %0, %1, 40;" : "=r"(r) : "r"(x));
    CHECK(r, (int)x >> 31);
    asm("popc.b32 %0, %1;" : "=r"(r) : "r"(x));
    CHECK(r, __popc(x));
    asm("clz.b64 %0, %1;" : "=r"(r) : "l"(w));
    CHECK(r, __clzll((long long)w));
    asm("brev.b32 %0, %1;" : "=r"(r) : "r"(x));
    CHECK(r, __brev(x));
    asm("min.s32 %0, %1, %2;" : "=r"(r) : "r"(x), "r"(y));
    CHECK(r, min((int)x, (int)y));
    asm("max.u32 %0, %1, %2;" : "=r"(r) : "r"(x), "r"(y));
    CHECK(r, max(x, y));
    asm("{\n .reg .pred p, q;\n setp.lt.and.s32 p|q, %1, %2, 1;\n selp.b32 %0, %1, %2, p;\n @q "
        "add.u32 %0, %0, 7;\n}"
        : "=r"(r)
        : "r"(x), "r"(y));
    CHECK(r, (int)x < (int)y ? x : y + 7);
    asm("{ .reg .pred p; setp.ne.b32 p, %1, 0; @!p mov.u32 %0, 5; @p mov.b32 %0, 6; }"
        : "=r"(r)
        : "r"(x & 1));
    CHECK(r, x & 1 ? 6u : 5u);
    asm("{ .reg .b16 lo, hi; mov.b32 {lo, hi}, %1; mov.b32 %0, {hi, lo}; }" : "=r"(r) : "r"(x));
    CHECK(r, x << 16 | x >> 16);
    asm("mov.b64 %0, {%1, %2};" : "=l"(wide) : "r"(y), "r"(x));
    CHECK(wide, w);
    asm("cvt.u16.u32 %0, %1;" : "=h"(h) : "r"(x));
    CHECK(h, (unsigned short)x);
    asm("cvt.s32.s8 %0, %1;" : "=r"(r) : "r"(x));
    CHECK(r, (int)(signed char)x);
    asm("cvt.sat.u8.s32 %0, %1;" : "=r"(r) : "r"((int)x >> 20));
    CHECK(r, (unsigned)min(max((int)x >> 20, 0), 255));
    asm("mov.u32 %0, %%laneid;" : "=r"(r));
    CHECK(r, lane);
    asm("{ .reg .u32 n;\n mov.u32 n, %%ntid.x;\n mov.u32 %0, %%tid.x;\n add.u32 %0, %0, n; }"
        : "=r"(r));
    CHECK(r, threadIdx.x + blockDim.x);
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(r));
    CHECK(r, (1u << lane) - 1);
    asm("mov.u32 %0, %1;" : "=r"(r) : "n"(4));
    CHECK(r, 4u);
    r = x;
    asm("xor.b32 %0, %0, %1;" : "+r"(r) : "r"(y));
    CHECK(r, x ^ y);
    r = x;
    asm("not.b32 %0, %0;" : "+r"(r));
    CHECK(r, ~x);
    asm("dp4a.s32.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(z));
    CHECK(r, __dp4a((int)x, (int)y, (int)z));
    DONE;
}

// floats: numbers of moderate size.
extern "C" __global__ void floats(const unsigned *xs, const unsigned *ys, const unsigned *zs,
                                  unsigned *got, unsigned *want) {
    int lane = threadIdx.x, checks = 0;
    float x = __uint_as_float(xs[lane]), y = __uint_as_float(ys[lane]);
    float z = __uint_as_float(zs[lane]), f;
    unsigned r;
    unsigned short h;
    __half2 a = __floats2half2_rn(x, y), b = __floats2half2_rn(y, z);
    unsigned pa = __half_as_ushort(a.x) | (unsigned)__half_as_ushort(a.y) << 16;
    unsigned pb = __half_as_ushort(b.x) | (unsigned)__half_as_ushort(b.y) << 16;
#define HALVES(v)                                                                                  \
    ([](__half2 w) { return __half_as_ushort(w.x) | (unsigned)__half_as_ushort(w.y) << 16; })(v)
    asm("fma.rn.f32 %0, %1, %2, %3;" : "=f"(f) : "f"(x), "f"(y), "f"(z));
    CHECK(f, fmaf(x, y, z));
    asm("fma.rz.f32 %0, %1, %2, %3;" : "=f"(f) : "f"(x), "f"(y), "f"(z));
    CHECK(f, __fmaf_rz(x, y, z));
    asm("add.rp.f32 %0, %1, %2;" : "=f"(f) : "f"(x), "f"(y));
    CHECK(f, __fadd_ru(x, y));
    asm("mul.f32 %0, %1, 0f3FB8AA3B;" : "=f"(f) : "f"(x));
    CHECK(f, __fmul_rn(x, 1.4426950216293335f));
    asm("sub.ftz.f32 %0, %1, %2;" : "=f"(f) : "f"(x), "f"(y));
    CHECK(f, __fsub_rn(x, y));
    asm("add.sat.f32 %0, %1, %2;" : "=f"(f) : "f"(x), "f"(y));
    CHECK(f, __saturatef(__fadd_rn(x, y)));
    asm("div.rn.f32 %0, %1, %2;" : "=f"(f) : "f"(x), "f"(y));
    CHECK(f, __fdiv_rn(x, y));
    asm("sqrt.rn.f32 %0, %1;" : "=f"(f) : "f"(fabsf(x)));
    CHECK(f, __fsqrt_rn(fabsf(x)));
    asm("max.f32 %0, %1, %2;" : "=f"(f) : "f"(x), "f"(y));
    CHECK(f, fmaxf(x, y));
    asm("abs.f32 %0, %1;" : "=f"(f) : "f"(x));
    CHECK(f, fabsf(x));
    asm("neg.f32 %0, %1;" : "=f"(f) : "f"(x));
    CHECK(f, -x);
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(f) : "f"(x));
    CHECK(fabsf(f - exp2f(x)) <= 4e-7f * exp2f(x), true);
    asm("rcp.approx.f32 %0, %1;" : "=f"(f) : "f"(x));
    CHECK(fabsf(f * x - 1) <= 4e-7f, true);
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(y), "f"(x));
    CHECK(r, pa);
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(y), "f"(x));
    CHECK(r, (unsigned)__bfloat16_as_ushort(__float2bfloat16(x)) |
                 (unsigned)__bfloat16_as_ushort(__float2bfloat16(y)) << 16);
    asm("cvt.rn.relu.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(y), "f"(x));
    CHECK(r, HALVES(__floats2half2_rn(fmaxf(x, 0), fmaxf(y, 0))));
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(x));
    CHECK(h, __half_as_ushort(__float2half(x)));
    asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(h));
    CHECK(f, __half2float(__float2half(x)));
    asm("cvt.rzi.s32.f32 %0, %1;" : "=r"(r) : "f"(x * 1000));
    CHECK(r, __float2int_rz(x * 1000));
    asm("cvt.rni.f32.f32 %0, %1;" : "=f"(f) : "f"(x * 1000));
    CHECK(f, rintf(x * 1000));
    asm("cvt.rn.f32.s32 %0, %1;" : "=f"(f) : "r"((int)(x * 1e9f)));
    CHECK(f, __int2float_rn((int)(x * 1e9f)));
    asm("add.f16x2 %0, %1, %2;" : "=r"(r) : "r"(pa), "r"(pb));
    CHECK(r, HALVES(__hadd2(a, b)));
    asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(r) : "r"(pa), "r"(pb));
    CHECK(r, HALVES(__hmul2(a, b)));
    asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(r) : "r"(pa), "r"(pb), "r"(pb));
    CHECK(r, HALVES(__hfma2(a, b, b)));
    asm("max.f16x2 %0, %1, %2;" : "=r"(r) : "r"(pa), "r"(pb));
    CHECK(r, HALVES(__hmax2(a, b)));
    asm("{ .reg .pred p; setp.gt.f32 p, %1, %2; selp.f32 %0, %1, %2, p; }"
        : "=f"(f)
        : "f"(x), "f"(y));
    CHECK(f, fmaxf(x, y));
    asm("{ .reg .f32 t; mov.f32 t, %1; fma.rn.f32 %0, t, t, 0f3F800000; }" : "=f"(f) : "f"(x));
    CHECK(f, fmaf(x, x, 1.f));
    DONE;
}

// warp: what lanes do together.
extern "C" __global__ void warp(const unsigned *xs, unsigned *got, unsigned *want) {
    int lane = threadIdx.x, checks = 0;
    unsigned x = xs[lane], r, p;
    asm volatile("shfl.sync.bfly.b32 %0, %1, 4, 0x1f, 0xffffffff;" : "=r"(r) : "r"(x));
    CHECK(r, __shfl_xor_sync(~0u, x, 4));
    asm volatile("{ .reg .pred q; shfl.sync.down.b32 %0|q, %2, 3, 0x1f, -1; selp.u32 %1, 1, 0, q; }"
                 : "=r"(r), "=r"(p)
                 : "r"(x));
    CHECK(r, __shfl_down_sync(~0u, x, 3));
    CHECK(p, (unsigned)(lane < 29));
    asm volatile("shfl.sync.up.b32 %0, %1, 1, 0x1800, -1;" : "=r"(r) : "r"(x));
    CHECK(r, __shfl_up_sync(~0u, x, 1, 8));
    asm volatile("shfl.sync.idx.b32 %0, %1, 2, 0x1c1f, -1;" : "=r"(r) : "r"(x));
    CHECK(r, __shfl_sync(~0u, x, 2, 4));
    asm volatile("{ .reg .pred q; setp.lt.u32 q, %1, 100; vote.sync.ballot.b32 %0, q, -1; }"
                 : "=r"(r)
                 : "r"(x));
    CHECK(r, __ballot_sync(~0u, x < 100));
    asm volatile(
        "{ .reg .pred q; setp.ge.u32 q, %1, 0; vote.sync.all.pred q, q, -1; selp.u32 %0, 1, 0, q; }"
        : "=r"(r)
        : "r"(x));
    CHECK(r, 1u);
    asm volatile("redux.sync.add.u32 %0, %1, 0xffffffff;" : "=r"(r) : "r"(x));
    CHECK(r, __reduce_add_sync(~0u, x));
    asm volatile("redux.sync.max.s32 %0, %1, 0xffffffff;" : "=r"(r) : "r"(x));
    CHECK((int)r, __reduce_max_sync(~0u, (int)x));
    asm volatile("match.any.sync.b32 %0, %1, 0xffffffff;" : "=r"(r) : "r"(x & 3));
    CHECK(r, __match_any_sync(~0u, x & 3));
    DONE;
}
