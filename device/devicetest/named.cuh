// What named.cu includes: types, and a kernel.
#pragma once
#include <cuda_fp16.h>

typedef float real;
enum Mode { SLOW = 3, FAST };
struct Line {
    short from;
    float slope;
};

template <typename T> __global__ void ofTheHeader(T *out) {
    out[0] = sizeof(T);
}
