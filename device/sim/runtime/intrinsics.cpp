// intrinsics.cpp - the few CUDA functions that need the runtime.
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "runtime.h"

extern "C" {

// A failed assert, or __trap().
void simt_trap(const char *what, int line) {
    simt::Worker *w = simt::worker;
    if (!w) { // the host's assert
        fflush(stdout);
        fprintf(stderr, "line %d: %s\n", line, what);
        abort();
    }
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

// What the compiler's bounds check calls (-fsanitize=bounds): an index beyond
// an array of known size, which may still be a valid address, a row further on.
struct SourceLocation {
    const char *file;
    uint32_t line, column;
};
struct TypeDescriptor {
    uint16_t kind, info; // info: bit 0 signed, above it the logarithm of the bits
    char name[1];
};
struct OutOfBoundsData {
    SourceLocation where;
    const TypeDescriptor *array, *index;
};

void __ubsan_handle_out_of_bounds(const OutOfBoundsData *data, uint64_t index) {
    simt::Worker *w = simt::worker;
    if (!w) return; // the host's own array
    {
        long long value = (long long)index;
        if (data->index->info == (5 << 1 | 1)) value = (int32_t)index;
        simt::Finding f;
        f.check = "memcheck";
        f.kind = "index out of bounds";
        f.line = (int)data->where.line;
        f.column = (int)data->where.column;
        f.text = "index " + std::to_string(value) + " into an array of type " + data->array->name;
        f.fatal = true;
        simt::report(w, f);
    }
    simt::stopKernel(w);
}

// Steps take the place of cycles: a clock that runs the same every time.
long long simt_clock() {
    if (!simt::worker) return (long long)clock();
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
