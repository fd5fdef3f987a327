// tensorcore.cpp - single instructions of the tensor cores (include/tensorcore.h): a warp's lanes
// bring their fragments, and the last to arrive works for all. With g = lane / 4 and t = lane % 4,
// fragments are laid out as in the PTX ISA.
#include <cstring>

#include "collective.h"
#include "tensorsum.h"
#include "widen.h"

using namespace simt;

namespace {
// Code is a number's type; eight words of them fill a row of a, or a column of b.
template <class Code, float (*number)(Code)> void product(Exchange &x) {
    constexpr int depth = 8 * sizeof(uint32_t) / sizeof(Code);
    static_assert(offsetof(Exchange, b) == sizeof x.a, "a and b are widened as one");
    float numbers[24 * depth], b[depth * 8];
    widenAll<Code, number>((const Code *)&x.a, numbers, 24 * depth);
    for (int j = 0; j < 8; j++)
        for (int k = 0; k < depth; k++) b[k * 8 + j] = numbers[(16 + j) * depth + k];
    addProducts<depth>(numbers, b, x.d);
}

void load(Exchange &x) {
    for (int j = 0; j < 4; j++)
        for (int g = 0; g < 8; g++) {
            const uint32_t *row = (const uint32_t *)x.row[8 * j + g];
            for (int t = 0; t < 4; t++) x.r[4 * g + t][j] = row[t];
        }
}

void loadTransposed(Exchange &x) {
    for (int j = 0; j < 4; j++)
        for (int t = 0; t < 4; t++) {
            const uint16_t *low = (const uint16_t *)x.row[8 * j + 2 * t],
                           *high = (const uint16_t *)x.row[8 * j + 2 * t + 1];
            for (int g = 0; g < 8; g++) x.r[4 * g + t][j] = low[g] | (uint32_t)high[g] << 16;
        }
}

const Instruction halves = {"mma_f16", product<uint16_t, fromHalf>, true},
                  bfloat16s = {"mma_bf16", product<uint16_t, fromBfloat16>, true},
                  tf32s = {"mma_tf32", product<uint32_t, fromTF32>, true},
                  loads = {"load_matrix", load},
                  transposedLoads = {"load_matrix_transposed", loadTransposed};

[[noreturn]] COLD void refuse(Worker *w, const char *kind, int line, const std::string &text) {
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

[[noreturn]] COLD void refuseRow(Worker *w, const Instruction &i, Addr a, int line) {
    std::string name = i.name;
    if (!w->shared->holds(a))
        refuse(w, "not in shared memory", line,
               name + ": the row that it is given is not in shared memory");
    refuse(w, "misaligned row", line,
           name + ": the row starts " + std::to_string(a % 16) +
               " bytes off; its address has to be a multiple of 16");
}

} // namespace

namespace simt {
void checkRow(Worker *w, const Instruction &i, Addr a, int line) {
    if (UNLIKELY(!w->shared->holds(a) || a % 16)) refuseRow(w, i, a, line);
}
} // namespace simt

namespace {
// One of two halves of a result: numbers as they travel in registers.
template <class T, class From> T half(const From *p) {
    T v;
    memcpy(&v, p, sizeof v);
    return v;
}
} // namespace

namespace simt {
struct FourFloats {
#if defined(__aarch64__)
    float upper[2], lower[2]; // in a register each
#else
    double upper, lower; // two floats each, as in a register
#endif
};
struct FourWords {
    uint64_t lower, upper; // two words each
};
} // namespace simt

namespace {
inline FourFloats fourFloats(const float *upper, const float *lower) {
#if defined(__aarch64__)
    return {{upper[0], upper[1]}, {lower[0], lower[1]}};
#else
    return {half<double>(upper), half<double>(lower)};
#endif
}
} // namespace

extern "C" {

#define PRODUCT(name, instruction)                                                                 \
    FourFloats name(uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3, uint32_t b0, uint32_t b1,  \
                    float d0, float d1, float d2, float d3, int line) {                            \
        Worker *w = worker;                                                                        \
        Fiber *f = w->current;                                                                     \
        Exchange &x = w->exchanges[f->warp];                                                       \
        int g = f->lane / 4, t = f->lane % 4;                                                      \
        float *upper = &x.d[g][2 * t], *lower = &x.d[g + 8][2 * t];                                \
        x.a[g][t] = a0, x.a[g + 8][t] = a1, x.a[g][t + 4] = a2, x.a[g + 8][t + 4] = a3;            \
        x.b[g][t] = b0, x.b[g][t + 4] = b1;                                                        \
        upper[0] = d0, upper[1] = d1, lower[0] = d2, lower[1] = d3;                                \
        aligned(w, instruction, line);                                                             \
        return fourFloats(upper, lower);                                                           \
    }
PRODUCT(simt_multiply_64_half, halves)
PRODUCT(simt_multiply_64_bfloat16, bfloat16s)
PRODUCT(simt_multiply_32_tf32, tf32s)
// Half as deep, the other half being zero; the names are for the counts.
PRODUCT(simt_multiply_32_half, halves)
PRODUCT(simt_multiply_32_bfloat16, bfloat16s)
PRODUCT(simt_multiply_16_tf32, tf32s)

// Each lane's row is checked and counted as its own read of 16 bytes.
FourWords simt_load_matrix(const void *row, int transposed, int line) {
    Worker *w = worker;
    Fiber *f = w->current;
    const Instruction &i = transposed ? transposedLoads : loads;
    Addr a = (Addr)row;
    checkRow(w, i, a, line);
    checkAccess(a, 16, READ, (Addr)__builtin_return_address(0));
    Exchange &x = w->exchanges[f->warp];
    x.row[f->lane] = a;
    aligned(w, i, line);
    const uint32_t *r = x.r[f->lane];
    return {half<uint64_t>(r), half<uint64_t>(r + 2)};
}
}
