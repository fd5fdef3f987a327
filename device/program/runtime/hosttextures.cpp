// hosttextures.cpp - arrays, textures and surfaces of the host's. An array is device memory without
// gaps, a texture what the simulator's own textures are: a description in device memory, whose
// address is the handle.
#include <algorithm>
#include <cstring>

#include "host.h"
#include "texture.h"

namespace simt::program {
namespace {
std::vector<cudaArray *> made;

uint64_t bytesOf(const simt_texels &t) {
    return (uint64_t)t.bytes * t.members * t.width * std::max(t.height, 1u) * std::max(t.depth, 1u);
}
} // namespace
} // namespace simt::program

extern "C" {
using namespace simt::program;
cudaError_t simt_cudaMalloc(void **p, size_t bytes);
cudaError_t simt_cudaFree(void *p);

cudaError_t simt_cudaArrayMake(cudaArray_t *a, const simt_texels *t) {
    SIMT_ENTER();
    if (!a || !t->width || !t->bytes || !t->members) return failed(cudaErrorInvalidValue);
    auto *array = new cudaArray{*t};
    if (cudaError_t e = simt_cudaMalloc(&array->texels.at, bytesOf(*t))) {
        delete array;
        return e;
    }
    made.push_back(array);
    *a = array;
    return cudaSuccess;
}

cudaError_t simt_cudaFreeArray(cudaArray_t a) {
    SIMT_ENTER();
    auto it = std::find(made.begin(), made.end(), a);
    if (it == made.end()) return a ? failed(cudaErrorInvalidResourceHandle) : cudaSuccess;
    made.erase(it);
    void *at = a->texels.at;
    delete a;
    return simt_cudaFree(at);
}

// x and w are bytes; rows is how many of them a slice of the plain memory has.
cudaError_t simt_cudaArrayCopy(const cudaArray *a, size_t x, size_t y, size_t z, void *p,
                               size_t pitch, size_t rows, size_t w, size_t h, size_t d, bool in,
                               cudaMemcpyKind kind) {
    SIMT_ENTER();
    if (std::find(made.begin(), made.end(), a) == made.end())
        return failed(cudaErrorInvalidResourceHandle);
    const simt_texels &t = a->texels;
    size_t line = (size_t)t.bytes * t.members * t.width, lines = std::max(t.height, 1u);
    if (x + w > line || y + h > lines || z + d > std::max(t.depth, 1u)) {
        told("out of bounds", "a copy reaches beyond an array of " + std::to_string(t.width) + "×" +
                                  std::to_string(t.height) + "×" + std::to_string(t.depth));
        return failed(cudaErrorInvalidValue);
    }
    issue(streamOf(nullptr));
    for (size_t k = 0; k < d; k++)
        for (size_t j = 0; j < h; j++) {
            char *mine = (char *)t.at + ((z + k) * lines + y + j) * line + x;
            char *other = (char *)p + (k * rows + j) * pitch;
            cudaError_t e = in ? copy("a copy to an array", mine, other, w, kind)
                               : copy("a copy from an array", other, mine, w, kind);
            if (e) return e;
        }
    waitFor(streamOf(nullptr));
    return settle();
}

cudaError_t simt_cudaTextureMake(unsigned long long *out, const simt_texels *t, size_t pitch,
                                 int outside, int normalized, int linear, int fractions) {
    SIMT_ENTER();
    if (pitch && pitch != (size_t)t->bytes * t->members * t->width) {
        told("not served", "a texture of pitched memory, whose rows have gaps between them");
        return failed(cudaErrorNotSupported);
    }
    void *at;
    if (cudaError_t e = simt_cudaMalloc(&at, sizeof(simt::Texture))) return e;
    simt::Texture x{};
    x.mark = simt::Texture::right;
    x.address = (uint64_t)t->at;
    x.size[0] = t->width, x.size[1] = t->height, x.size[2] = t->depth;
    x.dimensions = t->layered ? (t->height ? 2 : 1) : t->depth ? 3 : t->height ? 2 : 1;
    x.bytes = t->bytes, x.members = t->members, x.kind = t->kind, x.outside = (uint8_t)outside;
    x.normalized = (uint8_t)normalized, x.linear = (uint8_t)linear;
    x.fractions = fractions && t->kind != 2, x.layered = t->layered;
    memcpy(at, &x, sizeof x);
    simt::setState((simt::Addr)at, sizeof x, true);
    *out = (unsigned long long)at;
    return cudaSuccess;
}

cudaError_t simt_cudaDestroyTextureObject(unsigned long long t) {
    return simt_cudaFree((void *)t);
}
}
