// right.h - what the programs that check themselves have in common.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <iostream>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t error_ = (call);                                                               \
        if (error_ != cudaSuccess) {                                                               \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error_));        \
            exit(2);                                                                               \
        }                                                                                          \
    } while (0)

static int failures;
static void expect(bool right, const char *what) {
    std::cout << (right ? "ok " : "FAILED ") << what << std::endl;
    failures += !right;
}

template <class T> T *managed(size_t n) {
    T *p;
    CHECK(cudaMallocManaged(&p, n * sizeof(T)));
    return p;
}
