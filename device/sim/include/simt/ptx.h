// ptx.h - what inline PTX becomes (device/sim/ptx): each instruction is a call of something here,
// or of CUDA's own functions. Registers hold bits; an instruction's type says what they mean.
#pragma once
#include "../cuda_bf16.h"
#include "../cuda_fp16.h"
#include "../cuda_pipeline_primitives.h"
#include "../tensorcore.h"
#include "hopper.h"
#include "ptx_integers.h"
#include "ptx_memory.h"
#include "ptx_narrow.h"

extern "C" {
[[noreturn]] void simt_exit(); // ends the thread
// Each lane of the first 8·count gives a row of 16 bytes in shared memory.
simt::FourWords simt_ldmatrix(const void *row, int count, int transposed, int line);
void simt_stmatrix(void *row, int count, int transposed, unsigned r0, unsigned r1, unsigned r2,
                   unsigned r3, int line);
simt::FourFloats simt_multiply_32_half(unsigned a0, unsigned a1, unsigned a2, unsigned a3,
                                       unsigned b0, unsigned b1, float d0, float d1, float d2,
                                       float d3, int line);
simt::FourFloats simt_multiply_32_bfloat16(unsigned a0, unsigned a1, unsigned a2, unsigned a3,
                                           unsigned b0, unsigned b1, float d0, float d1, float d2,
                                           float d3, int line);
simt::FourFloats simt_multiply_16_tf32(unsigned a0, unsigned a1, unsigned a2, unsigned a3,
                                       unsigned b0, unsigned b1, float d0, float d1, float d2,
                                       float d3, int line);
// Of bytes, to 32-bit integers: bit 0 of kind says that a's are signed, bit 1 that b's are, bit 2
// that sums saturate.
simt::FourWords simt_integer_product(unsigned a0, unsigned a1, unsigned a2, unsigned a3,
                                     unsigned b0, unsigned b1, unsigned d0, unsigned d1,
                                     unsigned d2, unsigned d3, int kind, int line);
}

namespace simt::ptx {

// ---- registers --------------------------------------------------------------------
// as reads a register as a type: its bits, or the low ones.
template <class T, class F> SIMT_INLINE T as(F f) {
    if constexpr (std::is_same_v<T, F>)
        return f;
    else if constexpr (sizeof(T) == sizeof(F))
        return bits<T>(f);
    else if constexpr (std::is_integral_v<T> && std::is_integral_v<F>)
        return (T)f;
    else if constexpr (std::is_same_v<F, long long>) // a number
        return as<T>((std::conditional_t<sizeof(T) == 2, unsigned short, unsigned>)f);
    else {
        static_assert(sizeof(T) < sizeof(F), "a register that is too small for the instruction");
        return as<T>((std::conditional_t<sizeof(T) == 2, unsigned short, unsigned>)
                         bits<std::conditional_t<sizeof(F) == 8, unsigned long long, unsigned>>(f));
    }
}
template <class T> SIMT_INLINE bool isTrue(T v) {
    return v != 0;
}

// put writes a register: a wider one than the value gets it extended.
template <class R, class T> SIMT_INLINE void put(R &r, T v) {
    if constexpr (sizeof(R) == sizeof(T))
        r = as<R>(v);
    else if constexpr (std::is_integral_v<T>)
        r = (R)v;
    else
        r = (R)bits<std::conditional_t<sizeof(T) == 2, unsigned short, unsigned>>(v);
}

// in and out move between C++ and registers.
template <class R, class T> SIMT_INLINE void in(R &r, const T &v) {
    if constexpr (std::is_pointer_v<T> || std::is_array_v<T>)
        r = (R)(size_t)v;
    else if constexpr (sizeof(T) == sizeof(R))
        __builtin_memcpy(&r, (const void *)&v, sizeof r);
    else
        r = (R)v;
}
template <class T, class R> SIMT_INLINE void out(T &v, R r) {
    if constexpr (std::is_pointer_v<T>)
        v = (T)(size_t)r;
    else if constexpr (std::is_arithmetic_v<T> && sizeof(T) == sizeof(R))
        v = bits<T>(r);
    else if constexpr (sizeof(T) == sizeof(R))
        __builtin_memcpy((void *)&v, &r, sizeof v);
    else
        v = (T)r;
}

SIMT_INLINE uint3 tid() {
    return threadIdx;
}
SIMT_INLINE dim3 ntid() {
    return blockDim;
}
SIMT_INLINE uint3 ctaid() {
    return blockIdx;
}
SIMT_INLINE dim3 nctaid() {
    return gridDim;
}
SIMT_INLINE unsigned linear() {
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}
SIMT_INLINE unsigned warp() {
    return linear() / 32;
}
SIMT_INLINE unsigned warps() {
    return (blockDim.x * blockDim.y * blockDim.z + 31) / 32;
}

// ---- integers ----------------------------------------------------------------------
template <class T> SIMT_INLINE T shiftLeft(T v, unsigned n) {
    return n < 8 * sizeof(T) ? (T)(v << n) : (T)0;
}
template <class T> SIMT_INLINE T shiftRight(T v, unsigned n) {
    return n < 8 * sizeof(T) ? (T)(v >> n) : (T)(v < 0 ? -1 : 0);
}
template <class T> SIMT_INLINE T extract(T v, unsigned from, unsigned length) {
    constexpr unsigned all = 8 * sizeof(T);
    typedef std::make_unsigned_t<T> U;
    from &= 255, length &= 255;
    if (length == 0) return 0;
    bool negative = std::is_signed_v<T> &&
                    ((U)v >> (from + length - 1 < all ? from + length - 1 : all - 1) & 1);
    U r = from < all ? (U)v >> from : 0, mask = length < all ? ((U)1 << length) - 1 : ~(U)0;
    // Bits beyond the last are the sign's.
    if (negative && from < all && from) r |= ~(U)0 << (all - from);
    if (negative && from >= all) r = ~(U)0;
    return (T)(negative ? (r & mask) | ~mask : r & mask);
}
template <class T> SIMT_INLINE T insert(T from, T into, unsigned at, unsigned length) {
    constexpr unsigned all = 8 * sizeof(T);
    at &= 255, length &= 255;
    if (at >= all || length == 0) return into;
    T mask = (length < all ? ((T)1 << length) - 1 : ~(T)0) << at;
    return (into & ~mask) | (from << at & mask);
}
SIMT_INLINE unsigned logic3(unsigned a, unsigned b, unsigned c, unsigned table) {
    unsigned r = 0;
    if (table & 1) r |= ~a & ~b & ~c;
    if (table & 2) r |= ~a & ~b & c;
    if (table & 4) r |= ~a & b & ~c;
    if (table & 8) r |= ~a & b & c;
    if (table & 16) r |= a & ~b & ~c;
    if (table & 32) r |= a & ~b & c;
    if (table & 64) r |= a & b & ~c;
    if (table & 128) r |= a & b & c;
    return r;
}
template <class T> SIMT_INLINE T high(T a, T b) {
    if constexpr (sizeof(T) == 8) {
        if constexpr (std::is_signed_v<T>)
            return __mul64hi(a, b);
        else
            return __umul64hi(a, b);
    } else {
        typedef std::conditional_t<std::is_signed_v<T>, long long, unsigned long long> Wide;
        return (T)((Wide)a * (Wide)b >> (8 * sizeof(T)));
    }
}
template <class T> struct WiderOf;
template <> struct WiderOf<short> {
    typedef int type;
};
template <> struct WiderOf<unsigned short> {
    typedef unsigned type;
};
template <> struct WiderOf<int> {
    typedef long long type;
};
template <> struct WiderOf<unsigned> {
    typedef unsigned long long type;
};
template <class T> SIMT_INLINE auto wide(T a, T b) {
    typedef typename WiderOf<T>::type Wide;
    return (Wide)a * (Wide)b;
}
// wrapping arithmetic, and division as the GPU has it.
template <class T> SIMT_INLINE T plus(T a, T b) {
    typedef std::make_unsigned_t<T> U;
    return (T)((U)a + (U)b);
}
template <class T> SIMT_INLINE T minus(T a, T b) {
    typedef std::make_unsigned_t<T> U;
    return (T)((U)a - (U)b);
}
template <class T> SIMT_INLINE T times(T a, T b) {
    return (T)((unsigned long long)a * (unsigned long long)b);
}
template <class T> SIMT_INLINE T smaller(T a, T b) {
    return b < a ? b : a;
}
template <class T> SIMT_INLINE T larger(T a, T b) {
    return a < b ? b : a;
}

// ---- numbers -----------------------------------------------------------------------
// A subnormal result or argument is zero (.ftz).
SIMT_INLINE float flushed(float f) {
    return __builtin_fabsf(f) < 0x1p-126f ? __builtin_copysignf(0, f) : f;
}
SIMT_INLINE float positive(float f) { // .relu
    return f > 0 ? f : f != f ? f : 0.f;
}
template <class To, class From> SIMT_INLINE To converted(From v, Rounding r, bool saturate) {
    if constexpr (std::is_integral_v<To> && std::is_integral_v<From>) {
        if (saturate) return toInteger<To>(fromInteger(v), 0);
        return (To)v;
    } else if constexpr (std::is_integral_v<To>) {
        double d = (double)v;
        To nan = sizeof(To) == 8 ? (To)(1ull << 63) : (To)0;
        return toInteger<To>(integral(d, r), nan);
    } else {
        double d;
        if constexpr (std::is_integral_v<From>)
            d = fromInteger(v);
        else
            d = (double)v;
        if (saturate) d = d > 0 ? d < 1 ? d : 1 : 0;
        if constexpr (std::is_same_v<To, float>)
            return toFloat(d, r);
        else if constexpr (std::is_same_v<To, double>)
            return d;
        else
            return To::from(d, r);
    }
}
SIMT_INLINE unsigned pair(unsigned short low, unsigned short high) {
    return low | (unsigned)high << 16;
}
// each does to both halves of a register what f does to one number.
template <class H, class F, class... U> SIMT_INLINE unsigned each(F f, U... v) {
    return pair(as<unsigned short>(f(as<H>((unsigned short)v)...)),
                as<unsigned short>(f(as<H>((unsigned short)(v >> 16))...)));
}
template <class T> SIMT_INLINE bool unordered(T a, T b) {
    return !((float)a == (float)a) || !((float)b == (float)b);
}

// ---- lanes of a warp ------------------------------------------------------------------
enum Shfl { Up, Down, Bfly, Idx };
SIMT_INLINE unsigned shfl(Shfl mode, unsigned v, int b, unsigned c, unsigned mask, bool &inside,
                          int line = __builtin_LINE()) {
    int lane = (int)simt_lane(), segment = (int)(c >> 8 & 31), clamp = (int)(c & 31);
    int most = (lane & segment) | (clamp & ~segment), least = lane & segment;
    b &= 31;
    int from = mode == Up     ? lane - b
               : mode == Down ? lane + b
               : mode == Bfly ? lane ^ b
                              : least | (b & ~segment);
    inside = mode == Up ? from >= most : from <= most;
    return shuffle(mask, v, inside ? from : lane, line);
}
} // namespace simt::ptx
