// intrinsics.cpp - the few CUDA functions that need the runtime.
#include <cstdarg>
#include <cstdio>

#include "runtime.h"

extern "C" {

// A kernel's printf: kept for the host, bounded.
int simt_printf(const char *format, ...) {
    constexpr size_t most = 64 << 10;
    char line[1024];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (simt::printed.size() < most) {
        simt::printed += line;
        if (simt::printed.size() >= most) simt::printed += "\n(more was printed; cut off here)\n";
    }
    return n;
}

// A failed assert, or __trap().
void simt_trap(const char *what, int line) {
    simt::Worker *w = simt::worker;
    {
        simt::Finding f;
        f.check = "memcheck";
        f.kind = "trap";
        f.line = line;
        f.text = what;
        f.fatal = true;
        simt::report(w, f);
    }
    simt::stopKernel(w);
}

// Steps stand for cycles: a clock that runs the same every time.
long long simt_clock() {
    return (long long)simt::worker->steps;
}
}

// The getters that clang's indices use (include/simt/indices.h).
extern "C" {
extern __thread simt::Index3 simt_threadIdx, simt_blockIdx, simt_blockDim, simt_gridDim;
#define GETTERS(v)                                                                                 \
    unsigned simt_##v##_x() {                                                                      \
        return simt_##v.x;                                                                         \
    }                                                                                              \
    unsigned simt_##v##_y() {                                                                      \
        return simt_##v.y;                                                                         \
    }                                                                                              \
    unsigned simt_##v##_z() {                                                                      \
        return simt_##v.z;                                                                         \
    }
GETTERS(threadIdx)
GETTERS(blockIdx)
GETTERS(blockDim)
GETTERS(gridDim)
}
