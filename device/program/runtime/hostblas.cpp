// hostblas.cpp - cuBLAS's products, by plain loops in double: for programs that compare a kernel
// with them. It is as if the default stream had done them.
#include "host.h"

namespace simt::program {
namespace {
double at(const void *p, bool wide, size_t i) {
    return wide ? ((const double *)p)[i] : ((const float *)p)[i];
}

// matrix checks that rows × columns elements with a leading dimension are there, and are the
// device's.
bool matrix(const char *what, const char *name, const void *p, bool wide, int rows, int columns,
            int leading) {
    if (rows < 1 || columns < 1) return true;
    size_t bytes = ((size_t)(columns - 1) * leading + rows) * (wide ? 8 : 4);
    Array a = memoryAt(p);
    if (a.kind == Kind::Host) {
        told("host memory on the device",
             std::string(what) + ": " + name + " is memory of the host's");
        return false;
    }
    uint64_t before = (Addr)p - a.at;
    if (a.freed || before > a.bytes || bytes > a.bytes - before) {
        told(a.freed ? "use after free" : "out of bounds",
             std::string(what) + ": " + name + " takes " + std::to_string(bytes) + " bytes of '" +
                 a.name + "', which has " + std::to_string(a.freed ? 0 : a.bytes - before));
        return false;
    }
    return true;
}
} // namespace
} // namespace simt::program

// Columns lie one behind the other, as in Fortran.
extern "C" int simt_gemm(const char *what, int wide, int ta, int tb, int m, int n, int k,
                         double alpha, const void *a, int lda, const void *b, int ldb, double beta,
                         void *c, int ldc) {
    using namespace simt::program;
    constexpr int invalid = 7;
    SIMT_LOCK();
    if (cudaError_t e = enter()) return e ? 13 : 0;
    if (m < 0 || n < 0 || k < 0) return invalid;
    if (!matrix(what, "A", a, wide, ta ? k : m, ta ? m : k, lda) ||
        (ldb > 0 && !matrix(what, "B", b, wide, tb ? n : k, tb ? k : n, ldb)) ||
        !matrix(what, "C", c, wide, m, n, ldc))
        return invalid;
    issue(streamOf(nullptr));
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++) {
            double sum = 0;
            for (int l = 0; l < k; l++) {
                double right =
                    ldb < 0 ? 1 : at(b, wide, tb ? j + (size_t)l * ldb : l + (size_t)j * ldb);
                sum += at(a, wide, ta ? l + (size_t)i * lda : i + (size_t)l * lda) * right;
            }
            size_t to = i + (size_t)j * ldc;
            double v = alpha * sum + (beta != 0 ? beta * at(c, wide, to) : 0);
            if (wide)
                ((double *)c)[to] = v;
            else
                ((float *)c)[to] = (float)v;
            if (simt::arena.holds((simt::Addr)c))
                simt::setState((simt::Addr)c + to * (wide ? 8 : 4), wide ? 8 : 4, true);
        }
    return 0;
}
