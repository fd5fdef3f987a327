// integers.h - min and max, bit counting, wide products, and packed bytes.
#pragma once

#define SIMT_MINMAX(A, B, R)                                                                       \
    SIMT_INLINE R min(A a, B b) {                                                                  \
        return (R)a < (R)b ? (R)a : (R)b;                                                          \
    }                                                                                              \
    SIMT_INLINE R max(A a, B b) {                                                                  \
        return (R)a > (R)b ? (R)a : (R)b;                                                          \
    }
SIMT_MINMAX(int, int, int)
SIMT_MINMAX(unsigned, unsigned, unsigned)
SIMT_MINMAX(int, unsigned, unsigned)
SIMT_MINMAX(unsigned, int, unsigned)
SIMT_MINMAX(long, long, long)
SIMT_MINMAX(long, int, long)
SIMT_MINMAX(int, long, long)
SIMT_MINMAX(unsigned long, unsigned long, unsigned long)
SIMT_MINMAX(unsigned long, int, unsigned long)
SIMT_MINMAX(int, unsigned long, unsigned long)
SIMT_MINMAX(long, unsigned long, unsigned long)
SIMT_MINMAX(unsigned long, long, unsigned long)
SIMT_MINMAX(long long, long long, long long)
SIMT_MINMAX(unsigned long long, unsigned long long, unsigned long long)
SIMT_MINMAX(long long, unsigned long long, unsigned long long)
SIMT_MINMAX(unsigned long long, long long, unsigned long long)
// Floating point: a NaN loses, as on the GPU.
SIMT_INLINE float min(float a, float b) {
    return fminf(a, b);
}
SIMT_INLINE float max(float a, float b) {
    return fmaxf(a, b);
}
SIMT_INLINE double min(double a, double b) {
    return fmin(a, b);
}
SIMT_INLINE double max(double a, double b) {
    return fmax(a, b);
}
SIMT_INLINE double min(double a, float b) {
    return fmin(a, (double)b);
}
SIMT_INLINE double max(double a, float b) {
    return fmax(a, (double)b);
}
SIMT_INLINE double min(float a, double b) {
    return fmin((double)a, b);
}
SIMT_INLINE double max(float a, double b) {
    return fmax((double)a, b);
}

// By hand: without the instruction, g++ calls a function of its library. Bits
// are added in pairs, then in nibbles, then all bytes by one product.
SIMT_INLINE int __popcll(unsigned long long x) {
    x -= x >> 1 & 0x5555555555555555ull;
    x = (x & 0x3333333333333333ull) + (x >> 2 & 0x3333333333333333ull);
    return (int)(((x + (x >> 4)) & 0x0f0f0f0f0f0f0f0full) * 0x0101010101010101ull >> 56);
}
SIMT_INLINE int __popc(unsigned x) {
    return __popcll(x);
}
SIMT_INLINE int __clz(int x) {
    return x ? __builtin_clz((unsigned)x) : 32;
}
SIMT_INLINE int __clzll(long long x) {
    return x ? __builtin_clzll((unsigned long long)x) : 64;
}
SIMT_INLINE int __ffs(int x) {
    return __builtin_ffs(x);
}
SIMT_INLINE int __ffsll(long long x) {
    return __builtin_ffsll(x);
}
SIMT_INLINE unsigned __brev(unsigned x) {
    unsigned r = 0;
    for (int i = 0; i < 32; i++) r |= (x >> i & 1) << (31 - i);
    return r;
}
SIMT_INLINE unsigned long long __brevll(unsigned long long x) {
    return (unsigned long long)__brev((unsigned)x) << 32 | __brev((unsigned)(x >> 32));
}

SIMT_INLINE int __mulhi(int a, int b) {
    return (int)((long long)a * b >> 32);
}
SIMT_INLINE unsigned __umulhi(unsigned a, unsigned b) {
    return (unsigned)((unsigned long long)a * b >> 32);
}
SIMT_INLINE long long __mul64hi(long long a, long long b) {
    return (long long)((__int128)a * b >> 64);
}
SIMT_INLINE unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return (unsigned long long)((unsigned __int128)a * b >> 64);
}
// The low 24 bits of each operand take part.
SIMT_INLINE int __mul24(int a, int b) {
    return (int)((unsigned)((int)((unsigned)a << 8) >> 8) *
                 (unsigned)((int)((unsigned)b << 8) >> 8));
}
SIMT_INLINE unsigned __umul24(unsigned a, unsigned b) {
    return (a & 0xffffffu) * (b & 0xffffffu);
}
SIMT_INLINE unsigned __sad(int a, int b, unsigned c) {
    return c + (a > b ? (unsigned)a - (unsigned)b : (unsigned)b - (unsigned)a);
}
SIMT_INLINE unsigned __usad(unsigned a, unsigned b, unsigned c) {
    return c + (a > b ? a - b : b - a);
}
SIMT_INLINE int __hadd(int a, int b) {
    return (int)(((long long)a + b) >> 1);
}
SIMT_INLINE int __rhadd(int a, int b) {
    return (int)(((long long)a + b + 1) >> 1);
}
SIMT_INLINE unsigned __uhadd(unsigned a, unsigned b) {
    return (unsigned)(((unsigned long long)a + b) >> 1);
}
SIMT_INLINE unsigned __urhadd(unsigned a, unsigned b) {
    return (unsigned)(((unsigned long long)a + b + 1) >> 1);
}

// Each nibble of the selector picks one of the eight bytes of y:x; its top bit
// asks for that byte's sign instead.
SIMT_INLINE unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
    unsigned long long both = (unsigned long long)y << 32 | x;
    unsigned r = 0;
    for (int i = 0; i < 4; i++) {
        unsigned s = selector >> (4 * i);
        unsigned byte = (unsigned)(both >> (8 * (s & 7))) & 0xff;
        if (s & 8) byte = byte & 0x80 ? 0xff : 0;
        r |= byte << (8 * i);
    }
    return r;
}
SIMT_INLINE unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
    return (unsigned)(((unsigned long long)high << 32 | low) << (shift & 31) >> 32);
}
SIMT_INLINE unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) {
    return shift >= 32 ? low : __funnelshift_l(low, high, shift);
}
SIMT_INLINE unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
    return (unsigned)(((unsigned long long)high << 32 | low) >> (shift & 31));
}
SIMT_INLINE unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) {
    return shift >= 32 ? high : __funnelshift_r(low, high, shift);
}

#ifndef SIMT_HOST_FILE // there nvcc leaves these names to the program
SIMT_INLINE unsigned umin(unsigned a, unsigned b) {
    return a < b ? a : b;
}
SIMT_INLINE unsigned umax(unsigned a, unsigned b) {
    return a > b ? a : b;
}
SIMT_INLINE long long llmin(long long a, long long b) {
    return a < b ? a : b;
}
SIMT_INLINE long long llmax(long long a, long long b) {
    return a > b ? a : b;
}
SIMT_INLINE unsigned long long ullmin(unsigned long long a, unsigned long long b) {
    return a < b ? a : b;
}
SIMT_INLINE unsigned long long ullmax(unsigned long long a, unsigned long long b) {
    return a > b ? a : b;
}
#endif

SIMT_INLINE int __dp4a(int a, int b, int c) {
    for (int i = 0; i < 32; i += 8) c += (signed char)(a >> i) * (signed char)(b >> i);
    return c;
}
SIMT_INLINE unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
    for (int i = 0; i < 32; i += 8) c += (a >> i & 0xff) * (b >> i & 0xff);
    return c;
}
SIMT_INLINE int __dp4a(char4 a, char4 b, int c) {
    return c + a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}
SIMT_INLINE unsigned __dp4a(uchar4 a, uchar4 b, unsigned c) {
    return c + a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}
SIMT_INLINE int __dp2a_lo(int a, int b, int c) {
    return c + (short)a * (signed char)b + (short)(a >> 16) * (signed char)(b >> 8);
}
SIMT_INLINE int __dp2a_hi(int a, int b, int c) {
    return __dp2a_lo(a, b >> 16, c);
}
SIMT_INLINE unsigned __dp2a_lo(unsigned a, unsigned b, unsigned c) {
    return c + (a & 0xffff) * (b & 0xff) + (a >> 16) * (b >> 8 & 0xff);
}
SIMT_INLINE unsigned __dp2a_hi(unsigned a, unsigned b, unsigned c) {
    return __dp2a_lo(a, b >> 16, c);
}

// The n-th bit that is set, counted from `from`, upwards, or downwards for a negative n.
SIMT_INLINE unsigned __fns(unsigned mask, unsigned from, int n) {
    int step = n < 0 ? -1 : 1, left = n < 0 ? -n : n;
    for (int at = (int)from; at >= 0 && at < 32; at += step) {
        if (!(mask >> at & 1)) continue;
        if (n == 0) return at == (int)from ? from : ~0u;
        if (--left == 0) return (unsigned)at;
    }
    return ~0u;
}
