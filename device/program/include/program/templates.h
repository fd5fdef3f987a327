// templates.h - what of CUDA's runtime is a template, or takes a kernel or a variable.
#pragma once

extern "C" {
void simt_configure(const unsigned *grid, const unsigned *block, size_t shared, cudaStream_t s);
void simt_start(const struct simt_kernel_info *kernel, void **args);
int simt_on_host() __attribute__((const));
}

namespace simt {
// configure is what stands before a launch: <<<…>>> of the source.
SIMT_UNSEEN static inline void configure(dim3 grid, dim3 block, size_t shared = 0,
                                         cudaStream_t s = 0, Site site = Site::here()) {
    site.enter();
    simt_configure(&grid.x, &block.x, shared, s);
}

template <class F> struct Called;
template <class... P> struct Called<void(P...)> {
    template <size_t... I> SIMT_UNSEEN static void apply(void **args, std::index_sequence<I...>) {
        ((void (*)(P...))args[sizeof...(P)])(*(std::remove_cv_t<P> *)args[I]...);
    }
    SIMT_UNSEEN static void call(void **args) { apply(args, std::index_sequence_for<P...>{}); }
    static constexpr unsigned short sizes[] = {(unsigned short)sizeof(P)..., 0};
    static constexpr char kinds[] = {kindOf<std::remove_cv_t<P>>()..., 0};
};

// start is where a kernel's body goes if it is the host that calls it.
template <class... P> SIMT_UNSEEN void start(const simt_kernel_info *kernel, P... args) {
    void *all[] = {(void *)&args..., nullptr};
    simt_start(kernel, all);
}
} // namespace simt

#define SIMT_TYPED(name)                                                                           \
    template <class T>                                                                             \
    static inline cudaError_t name(T **p, size_t bytes, unsigned flags,                            \
                                   simt::Site site = simt::Site::here()) {                         \
        return name((void **)p, bytes, flags, site);                                               \
    }                                                                                              \
    template <class T>                                                                             \
    static inline cudaError_t name(T **p, size_t bytes, simt::Site site = simt::Site::here()) {    \
        return name((void **)p, bytes, 0, site);                                                   \
    }
SIMT_TYPED(cudaMallocHost)
SIMT_TYPED(cudaHostAlloc)
#undef SIMT_TYPED
template <class T>
static inline cudaError_t cudaMallocManaged(T **p, size_t bytes,
                                            unsigned flags = cudaMemAttachGlobal,
                                            simt::Site site = simt::Site::here()) {
    return cudaMallocManaged((void **)p, bytes, flags, site);
}
template <class T>
static inline cudaError_t cudaMalloc(T **p, size_t bytes, simt::Site site = simt::Site::here()) {
    return cudaMalloc((void **)p, bytes, site);
}
template <class T>
static inline cudaError_t cudaMallocPitch(T **p, size_t *pitch, size_t width, size_t height,
                                          simt::Site site = simt::Site::here()) {
    return cudaMallocPitch((void **)p, pitch, width, height, site);
}
template <class T>
static inline cudaError_t cudaMallocAsync(T **p, size_t bytes, cudaStream_t s,
                                          simt::Site site = simt::Site::here()) {
    return cudaMallocAsync((void **)p, bytes, s, site);
}
template <class T>
static inline cudaError_t cudaHostGetDevicePointer(T **device, void *p, unsigned flags,
                                                   simt::Site site = simt::Site::here()) {
    return cudaHostGetDevicePointer((void **)device, p, flags, site);
}

// A symbol is the variable itself.
template <class T>
static inline cudaError_t cudaMemcpyToSymbol(const T &symbol, const void *from, size_t n,
                                             size_t offset = 0,
                                             cudaMemcpyKind kind = cudaMemcpyHostToDevice,
                                             simt::Site site = simt::Site::here()) {
    return cudaCopyToSymbol((const void *)&symbol, from, n, offset, kind, 0, false, site);
}
template <class T>
static inline cudaError_t
cudaMemcpyToSymbolAsync(const T &symbol, const void *from, size_t n, size_t offset = 0,
                        cudaMemcpyKind kind = cudaMemcpyHostToDevice, cudaStream_t s = 0,
                        simt::Site site = simt::Site::here()) {
    return cudaCopyToSymbol((const void *)&symbol, from, n, offset, kind, s, true, site);
}
template <class T>
static inline cudaError_t cudaMemcpyFromSymbol(void *to, const T &symbol, size_t n,
                                               size_t offset = 0,
                                               cudaMemcpyKind kind = cudaMemcpyDeviceToHost,
                                               simt::Site site = simt::Site::here()) {
    return cudaCopyFromSymbol(to, (const void *)&symbol, n, offset, kind, 0, false, site);
}
template <class T>
static inline cudaError_t
cudaMemcpyFromSymbolAsync(void *to, const T &symbol, size_t n, size_t offset = 0,
                          cudaMemcpyKind kind = cudaMemcpyDeviceToHost, cudaStream_t s = 0,
                          simt::Site site = simt::Site::here()) {
    return cudaCopyFromSymbol(to, (const void *)&symbol, n, offset, kind, s, true, site);
}
template <class P, class T>
static inline cudaError_t cudaGetSymbolAddress(P **p, const T &symbol,
                                               simt::Site site = simt::Site::here()) {
    return cudaSymbolAddress((void **)p, (const void *)&symbol, site);
}
template <class T>
static inline cudaError_t cudaGetSymbolSize(size_t *size, const T &symbol,
                                            simt::Site site = simt::Site::here()) {
    return cudaSymbolSize(size, (const void *)&symbol, site);
}

// A kernel is a function of any type.
template <class F>
static inline cudaError_t cudaLaunchKernel(F *f, dim3 grid, dim3 block, void **args,
                                           size_t shared = 0, cudaStream_t s = 0,
                                           simt::Site site = simt::Site::here()) {
    return cudaLaunchAny((const void *)f, &grid.x, &block.x, args, shared, s, false, site);
}
template <class F>
static inline cudaError_t cudaLaunchCooperativeKernel(F *f, dim3 grid, dim3 block, void **args,
                                                      size_t shared = 0, cudaStream_t s = 0,
                                                      simt::Site site = simt::Site::here()) {
    return cudaLaunchAny((const void *)f, &grid.x, &block.x, args, shared, s, true, site);
}
template <class F>
static inline cudaError_t cudaFuncSetAttribute(F *f, cudaFuncAttribute a, int value,
                                               simt::Site site = simt::Site::here()) {
    return cudaFuncSetAttributeOf((const void *)f, a, value, site);
}
template <class F>
static inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *a, F *f,
                                                simt::Site site = simt::Site::here()) {
    return cudaFuncGetAttributesOf(a, (const void *)f, site);
}
template <class F> static inline cudaError_t cudaFuncSetCacheConfig(F *, cudaFuncCache) {
    return cudaSuccess;
}
template <class F> static inline cudaError_t cudaFuncSetSharedMemConfig(F *, cudaSharedMemConfig) {
    return cudaSuccess;
}
template <class F>
static inline cudaError_t
cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, F *f, int threads, size_t shared,
                                              simt::Site site = simt::Site::here()) {
    return cudaOccupancyOf(blocks, (const void *)f, threads, shared, site);
}
template <class F>
static inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *blocks, F *f, int threads, size_t shared, unsigned, simt::Site site = simt::Site::here()) {
    return cudaOccupancyOf(blocks, (const void *)f, threads, shared, site);
}
// The block size with which most threads are resident, and as many blocks as fill the device.
template <class S, class F>
static inline cudaError_t
cudaOccupancyMaxPotentialBlockSizeVariableSMem(int *grid, int *block, F *f, S sharedOf,
                                               int most = 0, simt::Site site = simt::Site::here()) {
    int best = 0, processors = 0;
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0, site);
    for (int n = most > 0 && most < 1024 ? most / 32 * 32 : 1024; n >= 32; n -= 32) {
        int blocks = 0;
        if (cudaError_t e = cudaOccupancyOf(&blocks, (const void *)f, n, sharedOf(n), site))
            return e;
        if (blocks * n <= best) continue;
        best = blocks * n;
        *block = n;
        *grid = blocks * processors;
    }
    return cudaSuccess;
}
template <class F>
static inline cudaError_t cudaOccupancyMaxPotentialBlockSize(int *grid, int *block, F *f,
                                                             size_t shared = 0, int most = 0,
                                                             simt::Site site = simt::Site::here()) {
    return cudaOccupancyMaxPotentialBlockSizeVariableSMem(
        grid, block, f, [=](int) { return shared; }, most, site);
}
