// widen.h - a tensor core's factors as floats.
#pragma once
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <cstdint>
#include <cstring>

namespace simt {

inline float bitsToFloat(uint32_t bits) {
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

// A half's exponent and fraction at their place in a float, with the exponent's bias made up for.
// Infinity and NaN get a float's largest exponent. A subnormal's leading 1 is missing: it is put
// there, and its value taken off again.
inline float fromHalf(uint16_t code) {
    uint32_t u = (uint32_t)(code & 0x7fff) << 13, exponent = u & 0x0f800000;
    uint32_t normal = u + ((127 - 15) << 23);
    float subnormal = bitsToFloat(normal + (1 << 23)) - bitsToFloat(113 << 23);
    uint32_t lifted;
    memcpy(&lifted, &subnormal, sizeof lifted);
    uint32_t r = exponent == 0 ? lifted : exponent == 0x0f800000 ? normal + (112 << 23) : normal;
    return bitsToFloat(r | (uint32_t)(code & 0x8000) << 16);
}

inline float fromBfloat16(uint16_t code) {
    return bitsToFloat((uint32_t)code << 16);
}

// The hardware drops the bits that tf32 lacks.
inline float fromTF32(uint32_t code) {
    return bitsToFloat(code & 0xffffe000u);
}

template <class Code, float (*number)(Code)>
inline void widenAll(const Code *codes, float *out, int n) {
    for (int i = 0; i < n; i++) out[i] = number(codes[i]);
}

#if defined(__x86_64__)
// The processor's own instruction, where it has one, gives the same numbers in a tenth of the time.
__attribute__((target("avx,f16c"))) inline void widenHalves(const uint16_t *codes, float *out,
                                                            int n) {
    for (int i = 0; i < n; i += 8)
        _mm256_storeu_ps(out + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(codes + i))));
}
inline const bool processorWidens = __builtin_cpu_supports("avx2"); // newer than the instruction

template <> inline void widenAll<uint16_t, fromHalf>(const uint16_t *codes, float *out, int n) {
    if (processorWidens) return widenHalves(codes, out, n);
    for (int i = 0; i < n; i++) out[i] = fromHalf(codes[i]);
}
#endif

} // namespace simt
