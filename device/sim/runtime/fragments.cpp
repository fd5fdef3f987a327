// fragments.cpp - ldmatrix and stmatrix of one, two or four matrices, and products of bytes: what
// inline PTX asks of the tensor cores beyond tensorcore.h (include/simt/ptx.h). The layouts are the
// PTX ISA's, with g = lane / 4 and t = lane % 4.
#include <cstring>

#include "collective.h"

using namespace simt;

namespace {
// What the lanes store: they bring four words each, and take away the row that is theirs.
typedef uint32_t Words[32][4];
Words &brought(Exchange &x) {
    static_assert(sizeof(Words) == sizeof x.d, "");
    return *(Words *)x.d;
}

template <int count> void load(Exchange &x) {
    for (int j = 0; j < count; j++)
        for (int g = 0; g < 8; g++) {
            const uint32_t *row = (const uint32_t *)x.row[8 * j + g];
            for (int t = 0; t < 4; t++) x.r[4 * g + t][j] = row[t];
        }
}
template <int count> void loadTransposed(Exchange &x) {
    for (int j = 0; j < count; j++)
        for (int t = 0; t < 4; t++) {
            const uint16_t *low = (const uint16_t *)x.row[8 * j + 2 * t],
                           *high = (const uint16_t *)x.row[8 * j + 2 * t + 1];
            for (int g = 0; g < 8; g++) x.r[4 * g + t][j] = low[g] | (uint32_t)high[g] << 16;
        }
}
template <int count> void store(Exchange &x) {
    for (int j = 0; j < count; j++)
        for (int g = 0; g < 8; g++)
            for (int t = 0; t < 4; t++) x.r[8 * j + g][t] = brought(x)[4 * g + t][j];
}
template <int count> void storeTransposed(Exchange &x) {
    for (int j = 0; j < count; j++)
        for (int t = 0; t < 4; t++)
            for (int g = 0; g < 8; g++) {
                uint32_t two = brought(x)[4 * g + t][j];
                ((uint16_t *)x.r[8 * j + 2 * t])[g] = (uint16_t)two;
                ((uint16_t *)x.r[8 * j + 2 * t + 1])[g] = (uint16_t)(two >> 16);
            }
}

const Instruction loads[3][2] = {{{"ldmatrix", load<1>}, {"ldmatrix", loadTransposed<1>}},
                                 {{"ldmatrix", load<2>}, {"ldmatrix", loadTransposed<2>}},
                                 {{"ldmatrix", load<4>}, {"ldmatrix", loadTransposed<4>}}};
const Instruction stores[3][2] = {{{"stmatrix", store<1>}, {"stmatrix", storeTransposed<1>}},
                                  {{"stmatrix", store<2>}, {"stmatrix", storeTransposed<2>}},
                                  {{"stmatrix", store<4>}, {"stmatrix", storeTransposed<4>}}};

// number is byte k of a row of words, with its sign or without.
int number(const uint32_t *words, int k, bool isSigned) {
    uint8_t byte = (uint8_t)(words[k / 4] >> (8 * (k % 4)));
    return isSigned ? (int8_t)byte : byte;
}

template <int kind> void products(Exchange &x) {
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 8; j++) {
            int32_t start;
            memcpy(&start, &x.d[i][j], 4);
            int64_t sum = start;
            for (int k = 0; k < 32; k++)
                sum += number(x.a[i], k, kind & 1) * number(x.b[j], k, kind & 2);
            if (kind & 4) sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
            int32_t end = (int32_t)sum;
            memcpy(&x.d[i][j], &end, 4);
        }
}
const Instruction byKind[8] = {{"mma", products<0>, true}, {"mma", products<1>, true},
                               {"mma", products<2>, true}, {"mma", products<3>, true},
                               {"mma", products<4>, true}, {"mma", products<5>, true},
                               {"mma", products<6>, true}, {"mma", products<7>, true}};
} // namespace

namespace simt {
struct FourWords {
    uint64_t lower, upper; // two words each
};
} // namespace simt

extern "C" {

// Each row is checked and counted as the access of the lane that gives it.
FourWords simt_ldmatrix(const void *row, int count, int transposed, int line) {
    Worker *w = worker;
    Fiber *f = w->current;
    const Instruction &i = loads[count / 2][transposed];
    if (f->lane < 8 * count) {
        checkRow(w, i, (Addr)row, line);
        checkAccess((Addr)row, 16, READ, (Addr)__builtin_return_address(0));
    }
    Exchange &x = w->exchanges[f->warp];
    x.row[f->lane] = (Addr)row;
    aligned(w, i, line);
    FourWords r;
    memcpy(&r, x.r[f->lane], sizeof r);
    return r;
}

void simt_stmatrix(void *row, int count, int transposed, uint32_t r0, uint32_t r1, uint32_t r2,
                   uint32_t r3, int line) {
    Worker *w = worker;
    Fiber *f = w->current;
    const Instruction &i = stores[count / 2][transposed];
    if (f->lane < 8 * count) checkRow(w, i, (Addr)row, line);
    Exchange &x = w->exchanges[f->warp];
    uint32_t mine[4] = {r0, r1, r2, r3};
    memcpy(brought(x)[f->lane], mine, sizeof mine);
    aligned(w, i, line);
    if (f->lane >= 8 * count) return;
    checkAccess((Addr)row, 16, WRITE, (Addr)__builtin_return_address(0));
    memcpy(row, x.r[f->lane], 16);
}

FourWords simt_integer_product(uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3, uint32_t b0,
                               uint32_t b1, uint32_t d0, uint32_t d1, uint32_t d2, uint32_t d3,
                               int kind, int line) {
    Worker *w = worker;
    Fiber *f = w->current;
    Exchange &x = w->exchanges[f->warp];
    int g = f->lane / 4, t = f->lane % 4;
    x.a[g][t] = a0, x.a[g + 8][t] = a1, x.a[g][t + 4] = a2, x.a[g + 8][t + 4] = a3;
    x.b[g][t] = b0, x.b[g][t + 4] = b1;
    uint32_t upper[2] = {d0, d1}, lower[2] = {d2, d3};
    memcpy(&x.d[g][2 * t], upper, 8);
    memcpy(&x.d[g + 8][2 * t], lower, 8);
    aligned(w, byKind[kind & 7], line);
    FourWords r;
    memcpy(&r.lower, &x.d[g][2 * t], 8);
    memcpy(&r.upper, &x.d[g + 8][2 * t], 8);
    return r;
}
}
