// float8.h - rounding to numbers of 8 bits and fewer, and back.
#pragma once
#include "cuda_bf16.h"
#include "cuda_fp16.h"

enum cudaRoundMode { cudaRoundNearest, cudaRoundZero, cudaRoundPosInf, cudaRoundMinInf };

namespace simt {
// roundTiny rounds a finite size (no sign) to a format with the given bits of fraction
// and smallest exponent, nearest, ties to even. The code may be larger than the format's
// largest: the caller knows what is beyond.
constexpr uint64_t roundTiny(double size, int fraction, int lowest, Rounding r = Nearest) {
    uint64_t u = bits<uint64_t>(size);
    int exponent = (int)(u >> 52 & 0x7ff) - 1023;
    uint64_t significand = u & ((1ull << 52) - 1);
    if (exponent == -1023)
        exponent = -1022;
    else
        significand |= 1ull << 52;
    int base = exponent < lowest ? lowest : exponent;
    int drop = base - fraction - exponent + 52;
    if (drop > 60) drop = 60;
    uint64_t kept = significand >> drop, rest = significand - (kept << drop),
             tie = 1ull << (drop - 1);
    if (r == Nearest ? rest > tie || (rest == tie && (kept & 1)) : r == Upward && rest) kept++;
    return kept + ((uint64_t)(base - lowest) << fraction);
}

// valueOfTiny is the way back, for what is neither infinite nor a NaN.
constexpr float valueOfTiny(unsigned code, int fraction, int lowest) {
    unsigned exponent = code >> fraction, rest = code & ((1u << fraction) - 1);
    float unit = 1;
    int power = lowest - fraction + (exponent ? (int)exponent - 1 : 0);
    if (exponent) rest |= 1u << fraction;
    for (; power > 0; power--) unit *= 2;
    for (; power < 0; power++) unit *= 0.5f;
    return (float)rest * unit;
}

constexpr double sizeOf(double x) {
    return bits<double>(bits<uint64_t>(x) & ~(1ull << 63));
}
constexpr bool isNegative(double x) {
    return bits<uint64_t>(x) >> 63;
}
constexpr bool isNaN(double x) {
    return x != x;
}

// sizeRounding is what CUDA's directions mean for a size without its sign.
constexpr Rounding sizeRounding(cudaRoundMode mode, bool negative) {
    if (mode == cudaRoundPosInf) return negative ? TowardZero : Upward;
    if (mode == cudaRoundMinInf) return negative ? Upward : TowardZero;
    return mode == cudaRoundZero ? TowardZero : Nearest;
}
} // namespace simt
