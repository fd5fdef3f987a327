// wgmmasums.cpp - the arithmetic of wgmma: sums [64 x columns] += a [64 x depth] . b, both of which
// come as rows of 32 bytes. Halves and tf32 add as mma does (tensorsum.h). Bytes are exact: their
// products' sum fits into a float. 8-bit floats are summed in double and cut off to a float.
#include <cmath>

#include "tensorsum.h"
#include "wgmma.h"
#include "widen.h"

namespace simt {

float fromHalfBits(uint16_t code) {
    return fromHalf(code);
}

// To the nearest, ties to even.
uint16_t toHalfBits(float v) {
    uint32_t u;
    memcpy(&u, &v, sizeof u);
    uint16_t sign = (uint16_t)(u >> 16 & 0x8000);
    u &= 0x7fffffff;
    if (u > 0x7f800000) return sign | 0x7fff;
    if (u >= 0x477ff000) return sign | 0x7c00; // from 65520 on
    if (u < 0x38800000) {                      // subnormal: units of 2^-24
        float units = bitsToFloat(u) * 0x1p24f;
        return sign | (uint16_t)std::nearbyint(units);
    }
    uint32_t rounded = u + 0xfff + (u >> 13 & 1);
    return sign | (uint16_t)((rounded >> 13) - (112 << 10));
}

namespace {
float fromE4M3(uint8_t code) {
    int exponent = code >> 3 & 15, fraction = code & 7;
    float v = (code & 127) == 127 ? NAN
              : exponent          ? std::ldexp(1 + fraction / 8.f, exponent - 7)
                                  : std::ldexp(fraction / 8.f, -6);
    return code & 128 ? -v : v;
}
float fromE5M2(uint8_t code) {
    return fromHalf((uint16_t)(code << 8));
}

struct Bytes {
    float e4m3[256], e5m2[256];
    Bytes() {
        for (int i = 0; i < 256; i++)
            e4m3[i] = fromE4M3((uint8_t)i), e5m2[i] = fromE5M2((uint8_t)i);
    }
};
const Bytes bytes;

void widen(unsigned kind, const uint8_t *rows, unsigned count, bool negate, float *out) {
    int n = (int)count;
    switch (kind) {
    case F16:
        widenAll<uint16_t, fromHalf>((const uint16_t *)rows, out, n);
        break;
    case BF16:
        widenAll<uint16_t, fromBfloat16>((const uint16_t *)rows, out, n);
        break;
    case TF32:
        widenAll<uint32_t, fromTF32>((const uint32_t *)rows, out, n);
        break;
    case E4M3:
        for (int i = 0; i < n; i++) out[i] = bytes.e4m3[rows[i]];
        break;
    case E5M2:
        for (int i = 0; i < n; i++) out[i] = bytes.e5m2[rows[i]];
        break;
    case S8:
        for (int i = 0; i < n; i++) out[i] = (float)(int8_t)rows[i];
        break;
    default:
        for (int i = 0; i < n; i++) out[i] = (float)rows[i];
    }
    for (int i = 0; negate && i < n; i++) out[i] = -out[i];
}

// One block of 16 x 8 sums; b is [depth][8].
void addIntegers(const Form &f, const float *a, const float *b, float *d) {
    for (int i = 0; i < 16; i++) {
        float row[8] = {};
        for (int k = 0; k < 32; k++)
            for (int j = 0; j < 8; j++) row[j] += a[32 * i + k] * b[8 * k + j];
        for (int j = 0; j < 8; j++) {
            int32_t before;
            memcpy(&before, d + 8 * i + j, 4);
            int64_t sum = before + (int64_t)row[j];
            if (f.saturate) sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
            int32_t after = (int32_t)sum;
            memcpy(d + 8 * i + j, &after, 4);
        }
    }
}

float cutOff(double v) {
    float f = (float)v;
    return std::isfinite(f) && std::fabs((double)f) > std::fabs(v) ? std::nextafter(f, 0.f) : f;
}

void addBytes(const float *a, const float *b, float *d) {
    for (int i = 0; i < 16; i++) {
        double row[8];
        for (int j = 0; j < 8; j++) row[j] = d[8 * i + j];
        for (int k = 0; k < 32; k++)
            for (int j = 0; j < 8; j++) row[j] += (double)a[32 * i + k] * b[8 * k + j];
        for (int j = 0; j < 8; j++) d[8 * i + j] = cutOff(row[j]);
    }
}
} // namespace

void multiply(const Form &f, const uint8_t *rowsOfA, const uint8_t *rowsOfB, float *sums) {
    unsigned depth = f.depth(), blocks = f.columns / 8;
    static thread_local float a[64 * 32], wide[256 * 32], b[256 * 32];
    widen(f.a, rowsOfA, 64 * depth, f.negateA, a);
    widen(f.b, rowsOfB, f.columns * depth, f.negateB, wide);
    for (unsigned n = 0; n < f.columns; n++)
        for (unsigned k = 0; k < depth; k++)
            b[(n / 8 * depth + k) * 8 + n % 8] = wide[n * depth + k];
    for (unsigned i = 0; i < 4; i++)
        for (unsigned j = 0; j < blocks; j++) {
            const float *x = a + 16 * i * depth, *y = b + 8 * j * depth;
            float *d = sums + (i * blocks + j) * 128;
            if (f.a >= S8)
                addIntegers(f, x, y, d);
            else if (f.a >= E4M3)
                addBytes(x, y, d);
            else if (f.a == TF32)
                addProducts<8>(x, y, *(float(*)[16][8])d);
            else
                addProducts<16>(x, y, *(float(*)[16][8])d);
        }
}

} // namespace simt
