// tensorsum.h - how a tensor core adds: d [16 x 8] += a [16 x depth] . b [depth x 8], by rows.
// NVIDIA does not say how; experiments on Hopper do. A sum and all products that belong to it are
// shifted to fit the largest exponent among them (a product's is the sum of its factors'), what
// falls out more than two bits behind a float's last is cut off, and the rest is added as
// integers. The result is cut off to a float. So nothing is rounded up, and long sums lose.
#pragma once
#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace simt {
namespace tensorsum {

// In two's powers. Below the least, what is cut off is cut off too soon: at 2^-125. Beyond the
// largest, and with infinity or NaN, sums are plain ones.
constexpr int least = -100, largest = 100, bitsKept = 23 + 2;

template <int depth> void addPlainly(const float *a, const float *b, float *d) {
    for (int i = 0; i < 16 * 8; i++)
        for (int k = 0; k < depth; k++) d[i] += a[i / 8 * depth + k] * b[k * 8 + i % 8];
}

#if defined(__x86_64__)
// The exponents of eight numbers' first bits; of zero and its neighbours, less than any other.
inline __m128i exponents(const float *v) {
    __m128i biased = _mm_set1_epi32(0xff), low = _mm_castps_si128(_mm_loadu_ps(v)),
            high = _mm_castps_si128(_mm_loadu_ps(v + 4));
    low = _mm_and_si128(_mm_srli_epi32(low, 23), biased);
    high = _mm_and_si128(_mm_srli_epi32(high, 23), biased);
    return _mm_sub_epi16(_mm_packs_epi32(low, high), _mm_set1_epi16(127));
}

// 2^e, of four floats or two doubles: e in the words, or in the upper words.
inline __m128 power(__m128i e) {
    return _mm_castsi128_ps(_mm_slli_epi32(_mm_add_epi32(e, _mm_set1_epi32(127)), 23));
}
inline __m128d powerOfTwo(__m128i e) {
    return _mm_castsi128_pd(_mm_slli_epi64(_mm_add_epi64(e, _mm_set1_epi64x(1023ll << 32)), 20));
}

// Two sums of integers, in units of 2^e, without their bits behind a float's last: doubles have
// room for all of them.
inline __m128 cutOff(__m128i first, __m128i second, __m128i e) {
    __m128d sum = _mm_add_pd(_mm_cvtepi32_pd(first), _mm_cvtepi32_pd(second));
    sum = _mm_mul_pd(sum, powerOfTwo(e));
    return _mm_cvtpd_ps(_mm_and_pd(sum, _mm_castsi128_pd(_mm_set1_epi64x(~0ull << 29))));
}

// Four sums of a row, whose largest exponents are top.
template <int depth> inline void addFour(const float *a, const float *b, float *d, __m128i top) {
    __m128i unit = _mm_sub_epi32(top, _mm_set1_epi32(bitsKept)), zero = _mm_setzero_si128();
    __m128 shift = power(_mm_sub_epi32(zero, unit));
    // Products are below 4: eight of them, and the sum, fit into 31 bits.
    __m128i total[2] = {_mm_cvttps_epi32(_mm_mul_ps(_mm_loadu_ps(d), shift)), zero};
    for (int k = 0; k < depth; k++) {
        __m128 product = _mm_mul_ps(_mm_set1_ps(a[k]), _mm_loadu_ps(b + 8 * k)); // exact
        total[k / 8] = _mm_add_epi32(total[k / 8], _mm_cvttps_epi32(_mm_mul_ps(product, shift)));
    }
    __m128 low = cutOff(total[0], total[1], _mm_unpacklo_epi32(zero, unit));
    __m128 high = cutOff(_mm_srli_si128(total[0], 8), _mm_srli_si128(total[1], 8),
                         _mm_unpackhi_epi32(zero, unit));
    _mm_storeu_ps(d, _mm_movelh_ps(low, high));
}

template <int depth> void addProducts(const float *a, const float *b, float (&d)[16][8]) {
    int16_t ofA[16 * depth], most[8];
    __m128i ofB[depth], top[16], all = _mm_set1_epi16(least);
    for (int i = 0; i < 16 * depth; i += 8)
        _mm_storeu_si128((__m128i *)(ofA + i), exponents(a + i));
    for (int k = 0; k < depth; k++) ofB[k] = exponents(b + 8 * k);
    for (int i = 0; i < 16; i++) {
        top[i] = _mm_max_epi16(_mm_set1_epi16(least), exponents(d[i]));
        for (int k = 0; k < depth; k++)
            top[i] =
                _mm_max_epi16(top[i], _mm_add_epi16(_mm_set1_epi16(ofA[i * depth + k]), ofB[k]));
        all = _mm_max_epi16(all, top[i]);
    }
    _mm_storeu_si128((__m128i *)most, all);
    for (int j = 0; j < 8; j++)
        if (most[j] > largest) return addPlainly<depth>(a, b, d[0]);
    for (int i = 0; i < 16; i++) {
        // A 16-bit number in both halves of a word, shifted down with its sign.
        __m128i low = _mm_srai_epi32(_mm_unpacklo_epi16(top[i], top[i]), 16),
                high = _mm_srai_epi32(_mm_unpackhi_epi16(top[i], top[i]), 16);
        addFour<depth>(a + i * depth, b, d[i], low);
        addFour<depth>(a + i * depth, b + 4, d[i] + 4, high);
    }
}
#else
// One sum after the other, where there is no SSE2: the same bits.
inline int exponent(float v) {
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    return (int)(bits >> 23 & 0xff) - 127;
}

inline double powerOfTwo(int e) {
    uint64_t bits = (uint64_t)(e + 1023) << 52;
    double power;
    memcpy(&power, &bits, sizeof power);
    return power;
}

template <int depth> inline float addOne(const float *a, const float *b, float d, int top) {
    int unit = top - bitsKept;
    float shift = (float)powerOfTwo(-unit);
    int64_t total = (int32_t)(d * shift);
    for (int k = 0; k < depth; k++) total += (int32_t)(a[k] * b[8 * k] * shift); // the first exact
    double sum = (double)total * powerOfTwo(unit);
    uint64_t bits; // a double has room for all of them, a float for all but 29
    memcpy(&bits, &sum, sizeof bits);
    bits &= ~0ull << 29;
    memcpy(&sum, &bits, sizeof bits);
    return (float)sum;
}

template <int depth> void addProducts(const float *a, const float *b, float (&d)[16][8]) {
    int top[16][8], most = least;
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 8; j++) {
            top[i][j] = std::max(least, exponent(d[i][j]));
            for (int k = 0; k < depth; k++)
                top[i][j] =
                    std::max(top[i][j], exponent(a[i * depth + k]) + exponent(b[8 * k + j]));
            most = std::max(most, top[i][j]);
        }
    if (most > largest) return addPlainly<depth>(a, b, d[0]);
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 8; j++)
            d[i][j] = addOne<depth>(a + i * depth, b + j, d[i][j], top[i][j]);
}
#endif

} // namespace tensorsum
using tensorsum::addProducts;
} // namespace simt
