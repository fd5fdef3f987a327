// api.h - CUDA's runtime as the host's code calls it. Each function tells the runtime where it was
// called from, so that a finding has the line, and calls the function of the same name behind
// simt_.
#pragma once
#include <stdarg.h>

#include "../../runtime/types.h"

extern "C" void simt_at(const char *file, int line);

namespace simt {
struct Site {
    const char *file;
    int line;
    static constexpr Site here(const char *file = __builtin_FILE(), int line = __builtin_LINE()) {
        return Site{file, line};
    }
    SIMT_UNSEEN void enter() const { simt_at(file, line); }
};
} // namespace simt

#define SIMT_API(name, arguments, ...)                                                             \
    extern "C" cudaError_t simt_##name(__VA_ARGS__);                                               \
    SIMT_UNSEEN static inline cudaError_t name(__VA_ARGS__,                                        \
                                               simt::Site site = simt::Site::here()) {             \
        site.enter();                                                                              \
        return simt_##name arguments;                                                              \
    }
#define SIMT_API0(name)                                                                            \
    extern "C" cudaError_t simt_##name();                                                          \
    SIMT_UNSEEN static inline cudaError_t name(simt::Site site = simt::Site::here()) {             \
        site.enter();                                                                              \
        return simt_##name();                                                                      \
    }

extern "C" const char *cudaGetErrorString(cudaError_t error);
extern "C" const char *cudaGetErrorName(cudaError_t error);
SIMT_API0(cudaGetLastError)
SIMT_API0(cudaPeekAtLastError)

SIMT_API0(cudaDeviceSynchronize)
SIMT_API0(cudaThreadSynchronize)
SIMT_API0(cudaDeviceReset)
SIMT_API0(cudaThreadExit)
SIMT_API(cudaGetDeviceCount, (count), int *count)
SIMT_API(cudaGetDevice, (device), int *device)
SIMT_API(cudaSetDevice, (device), int device)
SIMT_API(cudaSetDeviceFlags, (flags), unsigned flags)
SIMT_API(cudaGetDeviceFlags, (flags), unsigned *flags)
SIMT_API(cudaGetDeviceProperties, (p, device), struct cudaDeviceProp *p, int device)
SIMT_API(cudaChooseDevice, (device, p), int *device, const struct cudaDeviceProp *p)
SIMT_API(cudaDeviceGetAttribute, (value, a, device), int *value, enum cudaDeviceAttr a, int device)
SIMT_API(cudaDeviceGetPCIBusId, (text, n, device), char *text, int n, int device)
SIMT_API(cudaDeviceSetLimit, (limit, value), enum cudaLimit limit, size_t value)
SIMT_API(cudaDeviceGetLimit, (value, limit), size_t *value, enum cudaLimit limit)
SIMT_API(cudaDeviceSetCacheConfig, (config), enum cudaFuncCache config)
SIMT_API(cudaDeviceSetSharedMemConfig, (config), enum cudaSharedMemConfig config)
SIMT_API(cudaDeviceCanAccessPeer, (can, a, b), int *can, int a, int b)
SIMT_API(cudaDeviceEnablePeerAccess, (peer, flags), int peer, unsigned flags)
SIMT_API(cudaDeviceDisablePeerAccess, (peer), int peer)
SIMT_API(cudaDeviceGetStreamPriorityRange, (least, greatest), int *least, int *greatest)
SIMT_API(cudaDriverGetVersion, (version), int *version)
SIMT_API(cudaRuntimeGetVersion, (version), int *version)
SIMT_API0(cudaProfilerStart)
SIMT_API0(cudaProfilerStop)

SIMT_API(cudaMalloc, (p, bytes), void **p, size_t bytes)
SIMT_API(cudaMallocPitch, (p, pitch, width, height), void **p, size_t *pitch, size_t width,
         size_t height)
SIMT_API(cudaMallocManaged, (p, bytes, flags), void **p, size_t bytes,
         unsigned flags = cudaMemAttachGlobal)
SIMT_API(cudaMallocHost, (p, bytes, flags), void **p, size_t bytes, unsigned flags = 0)
SIMT_API(cudaHostAlloc, (p, bytes, flags), void **p, size_t bytes, unsigned flags)
SIMT_API(cudaHostRegister, (p, bytes, flags), void *p, size_t bytes, unsigned flags)
SIMT_API(cudaHostUnregister, (p), void *p)
SIMT_API(cudaHostGetDevicePointer, (device, p, flags), void **device, void *p, unsigned flags)
SIMT_API(cudaHostGetFlags, (flags, p), unsigned *flags, void *p)
SIMT_API(cudaFree, (p), void *p)
SIMT_API(cudaFreeHost, (p), void *p)
SIMT_API(cudaMallocAsync, (p, bytes, s), void **p, size_t bytes, cudaStream_t s)
SIMT_API(cudaFreeAsync, (p, s), void *p, cudaStream_t s)
SIMT_API(cudaMemGetInfo, (free, total), size_t *free, size_t *total)
SIMT_API(cudaPointerGetAttributes, (a, p), struct cudaPointerAttributes *a, const void *p)

SIMT_API(cudaMemcpy, (to, from, n, kind), void *to, const void *from, size_t n,
         enum cudaMemcpyKind kind)
SIMT_API(cudaMemcpyAsync, (to, from, n, kind, s), void *to, const void *from, size_t n,
         enum cudaMemcpyKind kind, cudaStream_t s = 0)
SIMT_API(cudaMemcpy2D, (to, toPitch, from, fromPitch, width, height, kind), void *to,
         size_t toPitch, const void *from, size_t fromPitch, size_t width, size_t height,
         enum cudaMemcpyKind kind)
SIMT_API(cudaMemcpy2DAsync, (to, toPitch, from, fromPitch, width, height, kind, s), void *to,
         size_t toPitch, const void *from, size_t fromPitch, size_t width, size_t height,
         enum cudaMemcpyKind kind, cudaStream_t s = 0)
SIMT_API(cudaMemcpyPeer, (to, toDevice, from, fromDevice, n), void *to, int toDevice,
         const void *from, int fromDevice, size_t n)
SIMT_API(cudaMemset, (p, value, n), void *p, int value, size_t n)
SIMT_API(cudaMemsetAsync, (p, value, n, s), void *p, int value, size_t n, cudaStream_t s = 0)
SIMT_API(cudaMemset2D, (p, pitch, value, width, height), void *p, size_t pitch, int value,
         size_t width, size_t height)
SIMT_API(cudaMemPrefetchAsync, (p, n, device, s), const void *p, size_t n, int device,
         cudaStream_t s = 0)
SIMT_API(cudaMemAdvise, (p, n, advice, device), const void *p, size_t n,
         enum cudaMemoryAdvise advice, int device)
SIMT_API(cudaStreamAttachMemAsync, (s, p, n, flags), cudaStream_t s, void *p, size_t n = 0,
         unsigned flags = cudaMemAttachSingle)
SIMT_API(cudaCopyToSymbol, (symbol, from, n, offset, kind, s, async), const void *symbol,
         const void *from, size_t n, size_t offset, enum cudaMemcpyKind kind, cudaStream_t s,
         bool async)
SIMT_API(cudaCopyFromSymbol, (to, symbol, n, offset, kind, s, async), void *to, const void *symbol,
         size_t n, size_t offset, enum cudaMemcpyKind kind, cudaStream_t s, bool async)
SIMT_API(cudaSymbolAddress, (p, symbol), void **p, const void *symbol)
SIMT_API(cudaSymbolSize, (size, symbol), size_t *size, const void *symbol)

SIMT_API(cudaStreamCreate, (s), cudaStream_t *s)
SIMT_API(cudaStreamCreateWithFlags, (s, flags), cudaStream_t *s, unsigned flags)
SIMT_API(cudaStreamCreateWithPriority, (s, flags, priority), cudaStream_t *s, unsigned flags,
         int priority)
SIMT_API(cudaStreamDestroy, (s), cudaStream_t s)
SIMT_API(cudaStreamSynchronize, (s), cudaStream_t s)
SIMT_API(cudaStreamQuery, (s), cudaStream_t s)
SIMT_API(cudaStreamWaitEvent, (s, e, flags), cudaStream_t s, cudaEvent_t e, unsigned flags = 0)
SIMT_API(cudaStreamAddCallback, (s, f, data, flags), cudaStream_t s, cudaStreamCallback_t f,
         void *data, unsigned flags)
SIMT_API(cudaStreamGetPriority, (s, priority), cudaStream_t s, int *priority)
SIMT_API(cudaStreamSetAttribute, (s, id, value), cudaStream_t s, enum cudaStreamAttrID id,
         const union cudaStreamAttrValue *value)
SIMT_API(cudaStreamGetAttribute, (s, id, value), cudaStream_t s, enum cudaStreamAttrID id,
         union cudaStreamAttrValue *value)
SIMT_API0(cudaCtxResetPersistingL2Cache)
SIMT_API(cudaStreamGetFlags, (s, flags), cudaStream_t s, unsigned *flags)
SIMT_API(cudaLaunchHostFunc, (s, f, data), cudaStream_t s, cudaHostFn_t f, void *data)
SIMT_API(cudaEventCreate, (e), cudaEvent_t *e)
SIMT_API(cudaEventCreateWithFlags, (e, flags), cudaEvent_t *e, unsigned flags)
static inline cudaError_t cudaEventCreate(cudaEvent_t *e, unsigned flags,
                                          simt::Site site = simt::Site::here()) {
    return cudaEventCreateWithFlags(e, flags, site);
}
SIMT_API(cudaEventDestroy, (e), cudaEvent_t e)
SIMT_API(cudaEventRecord, (e, s), cudaEvent_t e, cudaStream_t s = 0)
SIMT_API(cudaEventSynchronize, (e), cudaEvent_t e)
SIMT_API(cudaEventQuery, (e), cudaEvent_t e)
SIMT_API(cudaEventElapsedTime, (ms, from, to), float *ms, cudaEvent_t from, cudaEvent_t to)

SIMT_API(cudaLaunchAny, (f, grid, block, args, shared, s, cooperative), const void *f,
         const unsigned *grid, const unsigned *block, void **args, size_t shared, cudaStream_t s,
         bool cooperative)
SIMT_API(cudaFuncSetAttributeOf, (f, a, value), const void *f, enum cudaFuncAttribute a, int value)
SIMT_API(cudaFuncGetAttributesOf, (a, f), struct cudaFuncAttributes *a, const void *f)
SIMT_API(cudaOccupancyOf, (blocks, f, threads, shared), int *blocks, const void *f, int threads,
         size_t shared)

#include "program/templates.h"
