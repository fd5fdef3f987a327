// hostcopies.cpp - cudaMemcpy, cudaMemset and their kin: both sides checked, then done.
#include <cstring>

#include "host.h"

namespace simt::program {

namespace {
bool onDeviceSide(const Array &a) {
    return a.kind != Kind::Host;
}
bool onHostSide(const Array &a) {
    return a.kind != Kind::Device && a.kind != Kind::Variable;
}

// fits tells whether n bytes are all within what the address points to.
cudaError_t fits(const char *what, const char *side, const Array &a, const void *p, size_t n) {
    if (a.kind == Kind::Host) return cudaSuccess;
    std::string text = std::string(what) + ": " + side + " ";
    if (a.name.empty()) {
        told("out of bounds", text + "is in no allocation");
        return failed(cudaErrorInvalidValue);
    }
    if (a.freed) {
        told("use after free", text + "'" + a.name + "' was freed");
        return failed(cudaErrorInvalidValue);
    }
    uint64_t before = (Addr)p - a.at;
    if (before > a.bytes || n > a.bytes - before) {
        told("out of bounds",
             text + "'" + a.name + "' has " + std::to_string(a.bytes - before) +
                 " bytes from there, and " + std::to_string(n) + " are moved",
             "sizes are in bytes: count * sizeof(type)");
        return failed(cudaErrorInvalidValue);
    }
    return cudaSuccess;
}

uint8_t *stateOf(const Array &a, const void *p) {
    if (a.kind == Kind::Host || a.kind == Kind::Variable) return nullptr;
    return arena.state + ((Addr)p - arena.lo);
}

// direction says which side of a copy is not where its kind says.
cudaError_t direction(const char *what, const Array &to, const Array &from, cudaMemcpyKind kind) {
    const char *wrong = nullptr;
    bool host = false;
    if ((kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice) && !onDeviceSide(to))
        wrong = "destination", host = true;
    else if ((kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice) &&
             !onDeviceSide(from))
        wrong = "source", host = true;
    else if ((kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyHostToHost) && !onHostSide(to))
        wrong = "destination";
    else if ((kind == cudaMemcpyHostToDevice || kind == cudaMemcpyHostToHost) && !onHostSide(from))
        wrong = "source";
    if (!wrong) return cudaSuccess;
    std::string text = std::string(what) + ": the " + wrong + " is ";
    text += host ? "memory of the host's, where the copy's kind says device"
                 : "device memory, where the copy's kind says host";
    told(host ? "host memory on the device" : "device memory on the host", text,
         "the order is destination, source, bytes, kind");
    return failed(cudaErrorInvalidValue);
}
} // namespace

cudaError_t copy(const char *what, void *to, const void *from, size_t n, cudaMemcpyKind kind) {
    if (!n) return cudaSuccess;
    if (!to || !from) {
        told("null pointer",
             std::string(what) + ": the " + (to ? "source" : "destination") + " is a null pointer");
        return failed(cudaErrorInvalidValue);
    }
    if ((unsigned)kind > cudaMemcpyDefault) return failed(cudaErrorInvalidMemcpyDirection);
    if (arena.holds((Addr)from))
        if (Array *a = arrayAt((Addr)from)) refresh(a);
    Array a = memoryAt(to), b = memoryAt(from);
    cudaError_t e = direction(what, a, b, kind);
    if (!e) e = fits(what, "the destination", a, to, n);
    if (!e) e = fits(what, "the source", b, from, n);
    if (e) return e;
    uint8_t *target = stateOf(a, to), *source = stateOf(b, from);
    if (source && (options.checks & INIT) && !onDeviceSide(a)) {
        uint64_t at;
        if (firstUninitialised((Addr)from, n, &at))
            told("never written",
                 std::string(what) + ": byte " + std::to_string((Addr)from + at - b.at) + " of '" +
                     b.name + "' was never written",
                 "does every thread that should write an element do so, at the last rows and "
                 "columns too?");
    }
    memmove(to, from, n);
    if (!target) return cudaSuccess;
    if (source)
        memmove(target, source, n);
    else
        setState((Addr)to, n, true);
    return cudaSuccess;
}

namespace {
// rows copies a rectangle.
cudaError_t rows(const char *what, void *to, size_t toPitch, const void *from, size_t fromPitch,
                 size_t width, size_t height, cudaMemcpyKind kind) {
    if (width > toPitch || width > fromPitch) return failed(cudaErrorInvalidPitchValue);
    for (size_t i = 0; i < height; i++)
        if (cudaError_t e = copy(what, (char *)to + i * toPitch, (const char *)from + i * fromPitch,
                                 width, kind))
            return e;
    return cudaSuccess;
}

// queue notes what an asynchronous copy does to memory that the host reaches. Pageable memory is
// copied to or from before the call returns.
void queue(Stream *s, void *to, const void *from, size_t n) {
    issue(s);
    if (Array a = memoryAt(to); a.kind == Kind::Pinned || a.kind == Kind::Managed)
        leaves(s, (Addr)to, (Addr)to + n, true, "an asynchronous copy");
    if (Array a = memoryAt(from); a.kind == Kind::Pinned || a.kind == Kind::Managed)
        leaves(s, (Addr)from, (Addr)from + n, false, "an asynchronous copy");
}

cudaError_t fill(const char *what, void *p, int value, size_t n) {
    if (!n) return cudaSuccess;
    Array a = memoryAt(p);
    if (a.kind == Kind::Host) {
        told("host memory on the device", std::string(what) + " of memory of the host's",
             "memset fills that");
        return failed(cudaErrorInvalidValue);
    }
    if (cudaError_t e = fits(what, "the memory", a, p, n)) return e;
    memset(p, value, n);
    if (stateOf(a, p)) setState((Addr)p, n, true);
    return cudaSuccess;
}

cudaError_t waited(cudaError_t e) {
    if (e) return e;
    waitFor(streamOf(nullptr));
    return settle();
}

// symbol is a variable of the device's, from which a copy begins at an offset.
cudaError_t symbolAt(const char *what, const void *symbol, const void **at, size_t offset) {
    Array a = memoryAt(symbol);
    if (a.kind != Kind::Variable) {
        told("no symbol", std::string(what) + ": this is no __device__ or __constant__ variable");
        return failed(cudaErrorInvalidSymbol);
    }
    *at = (const char *)symbol + offset;
    return cudaSuccess;
}
} // namespace
} // namespace simt::program

extern "C" {
using namespace simt::program;

#define SIMT_STREAM(s)                                                                             \
    Stream *stream = streamOf(s);                                                                  \
    if (!stream) return failed(cudaErrorInvalidResourceHandle)

cudaError_t simt_cudaMemcpy(void *to, const void *from, size_t n, cudaMemcpyKind kind) {
    SIMT_ENTER();
    issue(streamOf(nullptr));
    return waited(copy("cudaMemcpy", to, from, n, kind));
}
cudaError_t simt_cudaMemcpyPeer(void *to, int, const void *from, int, size_t n) {
    SIMT_ENTER();
    issue(streamOf(nullptr));
    return waited(copy("cudaMemcpyPeer", to, from, n, cudaMemcpyDeviceToDevice));
}
cudaError_t simt_cudaMemcpyAsync(void *to, const void *from, size_t n, cudaMemcpyKind kind,
                                 cudaStream_t s) {
    SIMT_ENTER();
    SIMT_STREAM(s);
    cudaError_t e = copy("cudaMemcpyAsync", to, from, n, kind);
    if (!e) queue(stream, to, from, n);
    return e;
}
cudaError_t simt_cudaMemcpy2D(void *to, size_t toPitch, const void *from, size_t fromPitch,
                              size_t width, size_t height, cudaMemcpyKind kind) {
    SIMT_ENTER();
    issue(streamOf(nullptr));
    return waited(rows("cudaMemcpy2D", to, toPitch, from, fromPitch, width, height, kind));
}
cudaError_t simt_cudaMemcpy2DAsync(void *to, size_t toPitch, const void *from, size_t fromPitch,
                                   size_t width, size_t height, cudaMemcpyKind kind,
                                   cudaStream_t s) {
    SIMT_ENTER();
    SIMT_STREAM(s);
    cudaError_t e = rows("cudaMemcpy2DAsync", to, toPitch, from, fromPitch, width, height, kind);
    for (size_t i = 0; i < height && !e; i++)
        queue(stream, (char *)to + i * toPitch, (const char *)from + i * fromPitch, width);
    return e;
}
cudaError_t simt_cudaMemset(void *p, int value, size_t n) {
    SIMT_ENTER();
    issue(streamOf(nullptr));
    return fill("cudaMemset", p, value, n);
}
cudaError_t simt_cudaMemsetAsync(void *p, int value, size_t n, cudaStream_t s) {
    SIMT_ENTER();
    SIMT_STREAM(s);
    cudaError_t e = fill("cudaMemsetAsync", p, value, n);
    if (!e) queue(stream, p, nullptr, n);
    return e;
}
cudaError_t simt_cudaMemset2D(void *p, size_t pitch, int value, size_t width, size_t height) {
    SIMT_ENTER();
    for (size_t i = 0; i < height; i++)
        if (cudaError_t e = fill("cudaMemset2D", (char *)p + i * pitch, value, width)) return e;
    return cudaSuccess;
}
cudaError_t simt_cudaMemPrefetchAsync(const void *p, size_t n, int, cudaStream_t s) {
    SIMT_ENTER();
    SIMT_STREAM(s);
    issue(stream);
    return memoryAt(p).kind == Kind::Managed && n ? cudaSuccess : failed(cudaErrorInvalidValue);
}
cudaError_t simt_cudaMemAdvise(const void *p, size_t, cudaMemoryAdvise, int) {
    SIMT_ENTER();
    return memoryAt(p).kind == Kind::Managed ? cudaSuccess : failed(cudaErrorInvalidValue);
}
cudaError_t simt_cudaStreamAttachMemAsync(cudaStream_t s, void *, size_t, unsigned) {
    SIMT_ENTER();
    SIMT_STREAM(s);
    issue(stream);
    return cudaSuccess;
}
cudaError_t simt_cudaCopyToSymbol(const void *symbol, const void *from, size_t n, size_t offset,
                                  cudaMemcpyKind kind, cudaStream_t s, bool async) {
    SIMT_ENTER();
    SIMT_STREAM(s);
    const void *at;
    if (cudaError_t e = symbolAt("cudaMemcpyToSymbol", symbol, &at, offset)) return e;
    issue(stream);
    cudaError_t e = copy("cudaMemcpyToSymbol", (void *)at, from, n, kind);
    return async ? e : waited(e);
}
cudaError_t simt_cudaCopyFromSymbol(void *to, const void *symbol, size_t n, size_t offset,
                                    cudaMemcpyKind kind, cudaStream_t s, bool async) {
    SIMT_ENTER();
    SIMT_STREAM(s);
    const void *at;
    if (cudaError_t e = symbolAt("cudaMemcpyFromSymbol", symbol, &at, offset)) return e;
    issue(stream);
    cudaError_t e = copy("cudaMemcpyFromSymbol", to, at, n, kind);
    return async ? e : waited(e);
}
cudaError_t simt_cudaSymbolAddress(void **p, const void *symbol) {
    SIMT_ENTER();
    const void *at;
    cudaError_t e = symbolAt("cudaGetSymbolAddress", symbol, &at, 0);
    if (!e) *p = (void *)at;
    return e;
}
cudaError_t simt_cudaSymbolSize(size_t *size, const void *symbol) {
    SIMT_ENTER();
    const void *at;
    cudaError_t e = symbolAt("cudaGetSymbolSize", symbol, &at, 0);
    if (!e) *size = memoryAt(symbol).bytes;
    return e;
}
}
