// tensorcore.cpp - single instructions of the tensor cores (include/tensorcore.h): a warp's lanes
// bring their fragments, and the last to arrive works for all. With g = lane / 4 and t = lane % 4,
// fragments are as the PTX ISA has them.
#include <cstring>

#include "collective.h"

using namespace simt;

namespace {
// What a lane holds: two 16-bit numbers or one of tf32 in each word of a and b.
struct Fragments {
    uint32_t a[4], b[2];
    float d[4];
};

// Eight neighbours in a row.
typedef float Row __attribute__((vector_size(32)));

float widen(uint32_t bits) {
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

// A half's exponent and fraction at their place in a float, with the exponent's bias made up for.
// Infinity and NaN get a float's largest exponent. A subnormal's leading 1 is missing: it is put
// there, and its value taken off again.
float fromHalf(uint16_t code) {
    uint32_t u = (uint32_t)(code & 0x7fff) << 13, exponent = u & 0x0f800000;
    uint32_t normal = u + ((127 - 15) << 23);
    float subnormal = widen(normal + (1 << 23)) - widen(113 << 23);
    uint32_t lifted;
    memcpy(&lifted, &subnormal, sizeof lifted);
    uint32_t r = exponent == 0 ? lifted : exponent == 0x0f800000 ? normal + (112 << 23) : normal;
    return widen(r | (uint32_t)(code & 0x8000) << 16);
}

float fromBfloat16(uint16_t code) {
    return widen((uint32_t)code << 16);
}

// The hardware drops the bits that tf32 lacks.
float fromTF32(uint32_t code) {
    return widen(code & 0xffffe000u);
}

// Products of such numbers are exact in float32 (but where they leave its range), so that nothing
// depends on whether the host's compiler fuses them with the sum.
template <int depth> void multiply(const float *a, const float *b, Row *d) {
    for (int i = 0; i < 16; i++) {
        Row sum = d[i];
        for (int k = 0; k < depth; k++) {
            Row right;
            memcpy(&right, b + 8 * k, sizeof right);
            sum += a[i * depth + k] * right;
        }
        d[i] = sum;
    }
}

// Code is a number's type in a fragment; eight words of them fill a row of a, or a column of b.
template <class Code, float (*number)(Code)> void product(void *const *lanes) {
    constexpr int depth = 8 * sizeof(uint32_t) / sizeof(Code);
    uint32_t left[16][8], right[8][8]; // rows of a, columns of b
    Row d[16];
    for (int l = 0; l < 32; l++) {
        const Fragments &f = *(const Fragments *)lanes[l];
        int g = l / 4, t = l % 4;
        left[g][t] = f.a[0], left[g][t + 4] = f.a[2];
        left[g + 8][t] = f.a[1], left[g + 8][t + 4] = f.a[3];
        right[g][t] = f.b[0], right[g][t + 4] = f.b[1];
        for (int i = 0; i < 4; i++) d[g + i / 2 * 8][2 * t + i % 2] = f.d[i];
    }
    Code codes[24 * depth];
    memcpy(codes, left, sizeof left);
    memcpy(codes + 16 * depth, right, sizeof right);
    float numbers[24 * depth], b[depth * 8];
    for (int i = 0; i < 24 * depth; i++) numbers[i] = number(codes[i]);
    for (int k = 0; k < depth; k++)
        for (int j = 0; j < 8; j++) b[k * 8 + j] = numbers[(16 + j) * depth + k];
    multiply<depth>(numbers, b, d);
    for (int l = 0; l < 32; l++) {
        Fragments &f = *(Fragments *)lanes[l];
        for (int i = 0; i < 4; i++) f.d[i] = d[l / 4 + i / 2 * 8][l % 4 * 2 + i % 2];
    }
}

// What a lane brings to a load: the address of one row, for the r of all.
struct Load {
    Addr row;
    uint32_t r[4];
};

void load(void *const *lanes) {
    for (int j = 0; j < 4; j++) {
        uint32_t rows[8][4];
        for (int i = 0; i < 8; i++)
            memcpy(rows[i], (const void *)((const Load *)lanes[8 * j + i])->row, 16);
        for (int l = 0; l < 32; l++) ((Load *)lanes[l])->r[j] = rows[l / 4][l % 4];
    }
}

void loadTransposed(void *const *lanes) {
    for (int j = 0; j < 4; j++) {
        uint16_t rows[8][8];
        for (int i = 0; i < 8; i++)
            memcpy(rows[i], (const void *)((const Load *)lanes[8 * j + i])->row, 16);
        for (int l = 0; l < 32; l++)
            ((Load *)lanes[l])->r[j] = rows[l % 4 * 2][l / 4] | (uint32_t)rows[l % 4 * 2 + 1][l / 4]
                                                                    << 16;
    }
}

[[noreturn]] void refuse(Worker *w, const char *kind, int line, const std::string &text) {
    {
        Finding f;
        f.check = "memcheck";
        f.kind = kind;
        f.line = line;
        f.fatal = true;
        f.text = text;
        report(w, f);
    }
    stopKernel(w);
}
} // namespace

namespace simt {
struct FourFloats {
    float x, y, z, w;
};
struct FourWords {
    uint32_t x, y, z, w;
};
} // namespace simt

extern "C" {

#define PRODUCT(name, work, shown)                                                                 \
    FourFloats name(uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3, uint32_t b0, uint32_t b1,  \
                    float d0, float d1, float d2, float d3, int line) {                            \
        Fragments mine = {{a0, a1, a2, a3}, {b0, b1}, {d0, d1, d2, d3}};                           \
        together({work, &mine, shown}, line);                                                      \
        return {mine.d[0], mine.d[1], mine.d[2], mine.d[3]};                                       \
    }
PRODUCT(simt_multiply_64_half, (product<uint16_t, fromHalf>), "mma_f16")
PRODUCT(simt_multiply_64_bfloat16, (product<uint16_t, fromBfloat16>), "mma_bf16")
PRODUCT(simt_multiply_32_tf32, (product<uint32_t, fromTF32>), "mma_tf32")

// Each lane's row is checked and counted as its own read of 16 bytes.
FourWords simt_load_matrix(const void *row, int transposed, int line) {
    Worker *w = worker;
    Addr pc = (Addr)__builtin_return_address(0);
    const char *name = transposed ? "load_matrix_transposed" : "load_matrix";
    Load mine = {(Addr)row, {}};
    if (!w->shared->holds(mine.row))
        refuse(w, "not in shared memory", line,
               std::string(name) + ": a row has to be in shared memory");
    if (mine.row % 16)
        refuse(w, "misaligned row", line,
               std::string(name) + ": a row starts " + std::to_string(mine.row % 16) +
                   " bytes off; its address has to be a multiple of 16");
    checkAccess(mine.row, 16, READ, pc);
    together({transposed ? loadTransposed : load, &mine, name}, line);
    return {mine.r[0], mine.r[1], mine.r[2], mine.r[3]};
}
}
