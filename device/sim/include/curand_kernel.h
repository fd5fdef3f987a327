// curand_kernel.h - random numbers in kernels: XORWOW, Philox 4x32-10 and Sobol's sequence, with
// cuRAND's seeds, order and scaling.
#pragma once
#include "simt.h"

extern "C" void simt_xorwow_jump(unsigned *v, unsigned long long n, int sequences);

typedef struct curandStateXORWOW {
    unsigned d, v[5];
    int spare; // the second of two normal numbers is there: 1 float, 2 double
    float spareFloat;
    double spareDouble;
} curandStateXORWOW_t;
typedef curandStateXORWOW_t curandState_t, curandState;

typedef struct curandStatePhilox4_32_10 {
    uint4 ctr, output;
    uint2 key;
    unsigned next; // of output
    int spare;
    float spareFloat;
    double spareDouble;
} curandStatePhilox4_32_10_t;

typedef unsigned curandDirectionVectors32_t[32];
typedef unsigned long long curandDirectionVectors64_t[64];
typedef struct curandStateSobol32 {
    unsigned i, x, c;
    unsigned direction[32];
} curandStateSobol32_t;
typedef struct curandStateSobol64 {
    unsigned long long i, x, c;
    unsigned long long direction[64];
} curandStateSobol64_t;

// ---- XORWOW: Marsaglia's, with a counter added -----------------------------------------
SIMT_INLINE void skipahead(unsigned long long n, curandStateXORWOW_t *s) {
    unsigned v[5] = {s->v[0], s->v[1], s->v[2], s->v[3], s->v[4]};
    simt_xorwow_jump(v, n, 0);
    for (int i = 0; i < 5; i++) s->v[i] = v[i];
    s->d += 362437u * (unsigned)n;
}
// Sequences are 2^67 numbers apart, which leaves the counter as it is.
SIMT_INLINE void skipahead_sequence(unsigned long long n, curandStateXORWOW_t *s) {
    unsigned v[5] = {s->v[0], s->v[1], s->v[2], s->v[3], s->v[4]};
    simt_xorwow_jump(v, n, 1);
    for (int i = 0; i < 5; i++) s->v[i] = v[i];
}
SIMT_INLINE void curand_init(unsigned long long seed, unsigned long long sequence,
                             unsigned long long offset, curandStateXORWOW_t *s) {
    unsigned low = 1099087573u * ((unsigned)seed ^ 0xaad26b49u);
    unsigned high = 2591861531u * ((unsigned)(seed >> 32) ^ 0xf7dcefddu);
    s->d = 6615241u + high + low;
    s->v[0] = 123456789u + low;
    s->v[1] = 362436069u ^ low;
    s->v[2] = 521288629u + high;
    s->v[3] = 88675123u ^ high;
    s->v[4] = 5783321u + low;
    s->spare = 0;
    if (sequence) skipahead_sequence(sequence, s);
    if (offset) skipahead(offset, s);
}
SIMT_INLINE unsigned curand(curandStateXORWOW_t *s) {
    unsigned t = s->v[0] ^ s->v[0] >> 2;
    for (int i = 0; i < 4; i++) s->v[i] = s->v[i + 1];
    s->v[4] = s->v[4] ^ s->v[4] << 4 ^ t ^ t << 1;
    s->d += 362437u;
    return s->v[4] + s->d;
}

// ---- Philox: ten rounds over a counter ---------------------------------------------------
namespace simt {
SIMT_INLINE uint4 philox(uint4 c, uint2 key) {
    for (int round = 0; round < 10; round++) {
        unsigned long long p = 0xd2511f53ull * c.x, q = 0xcd9e8d57ull * c.z;
        c = make_uint4((unsigned)(q >> 32) ^ c.y ^ key.x, (unsigned)q,
                       (unsigned)(p >> 32) ^ c.w ^ key.y, (unsigned)p);
        key.x += 0x9e3779b9u, key.y += 0xbb67ae85u;
    }
    return c;
}
// The counter is four words, the lowest first; n is added from word `from` on.
SIMT_INLINE void advance(uint4 &c, unsigned long long n, bool upper) {
    unsigned *w = &c.x;
    unsigned long long carry = n;
    for (int i = upper ? 2 : 0; i < 4 && carry; i++) {
        unsigned long long sum = (carry & 0xffffffffu) + w[i];
        w[i] = (unsigned)sum;
        carry = (carry >> 32) + (sum >> 32);
    }
}
} // namespace simt
SIMT_INLINE void skipahead(unsigned long long n, curandStatePhilox4_32_10_t *s) {
    s->next += (unsigned)n & 3;
    n /= 4;
    if (s->next > 3) n++, s->next -= 4;
    simt::advance(s->ctr, n, false);
    s->output = simt::philox(s->ctr, s->key);
}
SIMT_INLINE void skipahead_sequence(unsigned long long n, curandStatePhilox4_32_10_t *s) {
    simt::advance(s->ctr, n, true);
    s->output = simt::philox(s->ctr, s->key);
}
SIMT_INLINE void curand_init(unsigned long long seed, unsigned long long sequence,
                             unsigned long long offset, curandStatePhilox4_32_10_t *s) {
    s->ctr = make_uint4(0, 0, 0, 0);
    s->key = make_uint2((unsigned)seed, (unsigned)(seed >> 32));
    s->next = 0;
    s->spare = 0;
    skipahead_sequence(sequence, s);
    skipahead(offset, s);
}
SIMT_INLINE unsigned curand(curandStatePhilox4_32_10_t *s) {
    unsigned v = s->next == 0   ? s->output.x
                 : s->next == 1 ? s->output.y
                 : s->next == 2 ? s->output.z
                                : s->output.w;
    if (++s->next == 4) {
        simt::advance(s->ctr, 1, false);
        s->output = simt::philox(s->ctr, s->key);
        s->next = 0;
    }
    return v;
}
SIMT_INLINE uint4 curand4(curandStatePhilox4_32_10_t *s) {
    unsigned a = curand(s), b = curand(s), c = curand(s), d = curand(s);
    return make_uint4(a, b, c, d);
}

// ---- Sobol's sequence, in the order of Gray codes ----------------------------------------
#define SIMT_SOBOL(S, T, bits, firstZero)                                                          \
    SIMT_INLINE void skipahead(T n, S *s) {                                                        \
        s->i += n;                                                                                 \
        s->x = s->c;                                                                               \
        T gray = s->i ^ s->i >> 1;                                                                 \
        for (int k = 0; k < bits; k++)                                                             \
            if (gray >> k & 1) s->x ^= s->direction[k];                                            \
    }                                                                                              \
    SIMT_INLINE void curand_init(T *direction, T offset, S *s) {                                   \
        for (int k = 0; k < bits; k++) s->direction[k] = direction[k];                             \
        s->i = s->c = 0;                                                                           \
        skipahead(offset, s);                                                                      \
    }                                                                                              \
    SIMT_INLINE T curand(S *s) {                                                                   \
        T v = s->x;                                                                                \
        int k = firstZero(~s->i) - 1;                                                              \
        if (k >= 0) s->x ^= s->direction[k];                                                       \
        s->i++;                                                                                    \
        return v;                                                                                  \
    }
SIMT_SOBOL(curandStateSobol32_t, unsigned, 32, __builtin_ffs)
SIMT_SOBOL(curandStateSobol64_t, unsigned long long, 64, __builtin_ffsll)

// ---- distributions: of (0, 1], and of normal numbers --------------------------------------
namespace simt {
SIMT_INLINE float uniformOf(unsigned x) {
    return (float)x * 0x1p-32f + 0x1p-33f;
}
SIMT_INLINE float uniformOf(unsigned long long x) {
    return uniformOf((unsigned)(x >> 32));
}
SIMT_INLINE double uniformOf(unsigned x, unsigned y) { // 53 bits
    return (double)(x ^ (unsigned long long)y << 21) * 0x1p-53 + 0x1p-54;
}
SIMT_INLINE float2 normalOf(unsigned x, unsigned y) { // Box and Muller's two
    float size = sqrtf(-2.f * logf(uniformOf(x)));
    float angle = (float)y * 1.46291807926715968e-9f + 7.3145903963357984e-10f; // of 2^32 to 2 pi
    return make_float2(size * sinf(angle), size * cosf(angle));
}
template <class S> SIMT_INLINE double2 normalDouble(S *s) {
    unsigned a = curand(s), b = curand(s), c = curand(s), d = curand(s);
    double size = sqrt(-2. * log(uniformOf(a, b))), turn = 2 * uniformOf(c, d), sine, cosine;
    sincospi(turn, &sine, &cosine);
    return make_double2(size * sine, size * cosine);
}
} // namespace simt
template <class S> SIMT_INLINE float curand_uniform(S *s) {
    return simt::uniformOf(curand(s));
}
template <class S> SIMT_INLINE double curand_uniform_double(S *s) {
    unsigned x = curand(s), y = curand(s);
    return simt::uniformOf(x, y);
}
SIMT_INLINE double curand_uniform_double(curandStateSobol32_t *s) {
    return (double)curand(s) * 0x1p-32 + 0x1p-33;
}
SIMT_INLINE double curand_uniform_double(curandStateSobol64_t *s) {
    return (double)(curand(s) >> 11) * 0x1p-53 + 0x1p-54;
}
template <class S> SIMT_INLINE float2 curand_normal2(S *s) {
    unsigned x = curand(s), y = curand(s);
    return simt::normalOf(x, y);
}
template <class S> SIMT_INLINE float curand_normal(S *s) {
    if (s->spare & 1) {
        s->spare &= ~1;
        return s->spareFloat;
    }
    float2 both = curand_normal2(s);
    s->spareFloat = both.y;
    s->spare |= 1;
    return both.x;
}
template <class S> SIMT_INLINE double curand_normal_double(S *s) {
    if (s->spare & 2) {
        s->spare &= ~2;
        return s->spareDouble;
    }
    double2 both = simt::normalDouble(s);
    s->spareDouble = both.y;
    s->spare |= 2;
    return both.x;
}
template <class S> SIMT_INLINE float curand_log_normal(S *s, float mean, float deviation) {
    return expf(mean + deviation * curand_normal(s));
}
SIMT_INLINE float4 curand_uniform4(curandStatePhilox4_32_10_t *s) {
    uint4 x = curand4(s);
    return make_float4(simt::uniformOf(x.x), simt::uniformOf(x.y), simt::uniformOf(x.z),
                       simt::uniformOf(x.w));
}
SIMT_INLINE float4 curand_normal4(curandStatePhilox4_32_10_t *s) {
    uint4 x = curand4(s);
    float2 a = simt::normalOf(x.x, x.y), b = simt::normalOf(x.z, x.w);
    return make_float4(a.x, a.y, b.x, b.y);
}
