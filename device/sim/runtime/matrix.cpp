// matrix.cpp - arithmetic that is counted by the name of its function (flops.go):
// a tensor core's, and fma rounded once. And what a tensor core asks of a matrix
// in memory (include/mma.h).
#include <cmath>
#include <cstring>

#include "runtime.h"

using namespace simt;

namespace {
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

void multiply(int m, int n, int k, const float *a, const float *b, double *c) {
    for (int i = 0; i < m; i++)
        for (int p = 0; p < k; p++) {
            double v = a[i * k + p];
            for (int j = 0; j < n; j++) c[i * n + j] += v * b[p * n + j];
        }
}

} // namespace

extern "C" {

void simt_multiply_4096(int m, int n, int k, const float *a, const float *b, double *c) {
    multiply(m, n, k, a, b, c);
}
void simt_multiply_2048(int m, int n, int k, const float *a, const float *b, double *c) {
    multiply(m, n, k, a, b, c);
}

void *simt_matrix_room() {
    alignas(64) static thread_local char room[8192]; // the largest product's take 4608
    return room;
}

// The product is exact in double. An inexact sum gets an odd last bit, so that
// the next rounding sees on which side of a tie it is (include/simt/rounding.h).
double simt_fma(float a, float b, float c) {
    double product = (double)a * b, sum = product + c, fromC = sum - product;
    double error = (product - (sum - fromC)) + (c - fromC);
    uint64_t bits;
    memcpy(&bits, &sum, sizeof bits);
    if (error == 0 || !std::isfinite(sum) || (bits & 1)) return sum;
    bits += (error > 0) == (sum > 0) ? 1 : -1;
    memcpy(&sum, &bits, sizeof sum);
    return sum;
}

void simt_check_matrix(const void *p, unsigned stride, int size, int line) {
    unsigned step = 16 / (unsigned)size;
    if (stride % step)
        refuse(worker, "bad leading dimension", line,
               "wmma: the leading dimension is " + std::to_string(stride) +
                   "; it has to be a multiple of " + std::to_string(step) + " elements (16 bytes)");
    // CUDA asks for 32 everywhere, but the linker may put a shared array that is not
    // explicitly aligned anywhere.
    unsigned multiple = worker->shared->holds((Addr)p) ? 16 : 32;
    if ((Addr)p % multiple)
        refuse(worker, "misaligned matrix", line,
               "wmma: the matrix starts " + std::to_string((Addr)p % multiple) +
                   " bytes off; its address has to be a multiple of 32");
}
}
