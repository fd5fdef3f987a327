// textures.h - arrays, textures and surfaces, as the host's code makes them.
#pragma once

enum cudaChannelFormatKind {
    cudaChannelFormatKindSigned,
    cudaChannelFormatKindUnsigned,
    cudaChannelFormatKindFloat,
    cudaChannelFormatKindNone,
};
struct cudaChannelFormatDesc {
    int x, y, z, w; // bits
    enum cudaChannelFormatKind f;
};
static inline cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                                          cudaChannelFormatKind f) {
    return {x, y, z, w, f};
}
template <class T> static inline cudaChannelFormatDesc cudaCreateChannelDesc() {
    typedef typename simt::Texel<T>::Member M;
    int bits = 8 * sizeof(M), n = sizeof(T) / sizeof(M);
    return {bits, n > 1 ? bits : 0, n > 2 ? bits : 0, n > 3 ? bits : 0,
            std::is_floating_point_v<M> ? cudaChannelFormatKindFloat
            : std::is_signed_v<M>       ? cudaChannelFormatKindSigned
                                        : cudaChannelFormatKindUnsigned};
}

#define cudaArrayDefault 0x00
#define cudaArrayLayered 0x01
#define cudaArraySurfaceLoadStore 0x02
#define cudaArrayCubemap 0x04
#define cudaArrayTextureGather 0x08

struct cudaPos {
    size_t x, y, z;
};
struct cudaPitchedPtr {
    void *ptr;
    size_t pitch, xsize, ysize;
};
static inline cudaPos make_cudaPos(size_t x, size_t y, size_t z) {
    return {x, y, z};
}
static inline cudaPitchedPtr make_cudaPitchedPtr(void *p, size_t pitch, size_t x, size_t y) {
    return {p, pitch, x, y};
}
static inline cudaExtent make_cudaExtent(size_t w, size_t h, size_t d) {
    return {w, h, d};
}
struct cudaMemcpy3DParms {
    cudaArray_t srcArray;
    struct cudaPos srcPos;
    struct cudaPitchedPtr srcPtr;
    cudaArray_t dstArray;
    struct cudaPos dstPos;
    struct cudaPitchedPtr dstPtr;
    struct cudaExtent extent;
    enum cudaMemcpyKind kind;
};

enum cudaResourceType {
    cudaResourceTypeArray,
    cudaResourceTypeMipmappedArray,
    cudaResourceTypeLinear,
    cudaResourceTypePitch2D,
};
struct cudaResourceDesc {
    enum cudaResourceType resType;
    union {
        struct {
            cudaArray_t array;
        } array;
        struct {
            void *devPtr;
            struct cudaChannelFormatDesc desc;
            size_t sizeInBytes;
        } linear;
        struct {
            void *devPtr;
            struct cudaChannelFormatDesc desc;
            size_t width, height, pitchInBytes;
        } pitch2D;
    } res;
};
struct cudaTextureDesc {
    enum cudaTextureAddressMode addressMode[3];
    enum cudaTextureFilterMode filterMode;
    enum cudaTextureReadMode readMode;
    int sRGB;
    float borderColor[4];
    int normalizedCoords;
    unsigned maxAnisotropy;
    enum cudaTextureFilterMode mipmapFilterMode;
    float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
    int disableTrilinearOptimization, seamlessCubemap;
};
struct cudaResourceViewDesc {};

SIMT_API(cudaArrayMake, (a, t), cudaArray_t *a, const struct simt_texels *t)
SIMT_API(cudaFreeArray, (a), cudaArray_t a)
SIMT_API(cudaArrayCopy, (a, x, y, z, p, pitch, rows, w, h, d, in, kind), const struct cudaArray *a,
         size_t x, size_t y, size_t z, void *p, size_t pitch, size_t rows, size_t w, size_t h,
         size_t d, bool in, enum cudaMemcpyKind kind)
SIMT_API(cudaTextureMake, (out, t, pitch, outside, normalized, linear, fractions),
         unsigned long long *out, const struct simt_texels *t, size_t pitch, int outside,
         int normalized, int linear, int fractions)
SIMT_API(cudaDestroyTextureObject, (t), unsigned long long t)
static inline cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t s,
                                                   simt::Site site = simt::Site::here()) {
    return cudaDestroyTextureObject(s, site);
}

namespace simt {
static inline simt_texels texels(void *at, const cudaChannelFormatDesc &d, size_t w, size_t h,
                                 size_t depth, bool layered) {
    int n = (d.x > 0) + (d.y > 0) + (d.z > 0) + (d.w > 0);
    int kind = d.f == cudaChannelFormatKindFloat ? 2 : d.f == cudaChannelFormatKindSigned ? 1 : 0;
    return {at,
            (unsigned)w,
            (unsigned)h,
            (unsigned)depth,
            (unsigned char)(d.x / 8),
            (unsigned char)n,
            (unsigned char)kind,
            (unsigned char)layered};
}
static inline size_t texelBytes(const cudaArray *a) {
    return (size_t)a->texels.bytes * a->texels.members;
}
} // namespace simt

static inline cudaError_t cudaMalloc3DArray(cudaArray_t *a, const cudaChannelFormatDesc *d,
                                            cudaExtent e, unsigned flags = 0,
                                            simt::Site site = simt::Site::here()) {
    simt_texels t = simt::texels(nullptr, *d, e.width, e.height, e.depth,
                                 flags & (cudaArrayLayered | cudaArrayCubemap));
    return cudaArrayMake(a, &t, site);
}
static inline cudaError_t cudaMallocArray(cudaArray_t *a, const cudaChannelFormatDesc *d, size_t w,
                                          size_t h = 0, unsigned flags = 0,
                                          simt::Site site = simt::Site::here()) {
    return cudaMalloc3DArray(a, d, cudaExtent{w, h, 0}, flags, site);
}
static inline cudaError_t cudaMemcpyToArray(cudaArray_t a, size_t x, size_t y, const void *from,
                                            size_t n, cudaMemcpyKind kind,
                                            simt::Site site = simt::Site::here()) {
    size_t row = a->texels.width * simt::texelBytes(a), w = n < row ? n : row;
    return cudaArrayCopy(a, x, y, 0, (void *)from, w, 0, w, w ? n / w : 0, 1, true, kind, site);
}
static inline cudaError_t cudaMemcpyFromArray(void *to, cudaArray_const_t a, size_t x, size_t y,
                                              size_t n, cudaMemcpyKind kind,
                                              simt::Site site = simt::Site::here()) {
    size_t row = a->texels.width * simt::texelBytes(a), w = n < row ? n : row;
    return cudaArrayCopy(a, x, y, 0, to, w, 0, w, w ? n / w : 0, 1, false, kind, site);
}
static inline cudaError_t cudaMemcpy2DToArray(cudaArray_t a, size_t x, size_t y, const void *from,
                                              size_t pitch, size_t w, size_t h, cudaMemcpyKind kind,
                                              simt::Site site = simt::Site::here()) {
    return cudaArrayCopy(a, x, y, 0, (void *)from, pitch, 0, w, h, 1, true, kind, site);
}
static inline cudaError_t cudaMemcpy2DFromArray(void *to, size_t pitch, cudaArray_const_t a,
                                                size_t x, size_t y, size_t w, size_t h,
                                                cudaMemcpyKind kind,
                                                simt::Site site = simt::Site::here()) {
    return cudaArrayCopy(a, x, y, 0, to, pitch, 0, w, h, 1, false, kind, site);
}
// One side is an array, the other plain memory; or both are memory.
static inline cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms *p,
                                       simt::Site site = simt::Site::here()) {
    bool in = p->dstArray;
    cudaArray_t a = in ? p->dstArray : p->srcArray;
    const cudaPitchedPtr &m = in ? p->srcPtr : p->dstPtr;
    if (!a) {
        const cudaExtent &e = p->extent;
        for (size_t z = 0; z < e.depth; z++)
            if (cudaError_t error = cudaMemcpy2D(
                    (char *)p->dstPtr.ptr + z * p->dstPtr.pitch * p->dstPtr.ysize, p->dstPtr.pitch,
                    (char *)p->srcPtr.ptr + z * p->srcPtr.pitch * p->srcPtr.ysize, p->srcPtr.pitch,
                    e.width, e.height, p->kind, site))
                return error;
        return cudaSuccess;
    }
    const cudaPos &at = in ? p->dstPos : p->srcPos;
    return cudaArrayCopy(a, at.x * simt::texelBytes(a), at.y, at.z, m.ptr, m.pitch, m.ysize,
                         p->extent.width * simt::texelBytes(a), p->extent.height, p->extent.depth,
                         in, p->kind, site);
}

static inline cudaError_t cudaCreateTextureObject(cudaTextureObject_t *out,
                                                  const cudaResourceDesc *r,
                                                  const cudaTextureDesc *t,
                                                  const cudaResourceViewDesc *,
                                                  simt::Site site = simt::Site::here()) {
    simt_texels made{};
    size_t pitch = 0;
    if (r->resType == cudaResourceTypeArray) {
        made = r->res.array.array->texels;
    } else if (r->resType == cudaResourceTypeLinear) {
        made = simt::texels(r->res.linear.devPtr, r->res.linear.desc, 1, 0, 0, false);
        made.width = (unsigned)(r->res.linear.sizeInBytes / (made.bytes * made.members));
    } else {
        made = simt::texels(r->res.pitch2D.devPtr, r->res.pitch2D.desc, r->res.pitch2D.width,
                            r->res.pitch2D.height, 0, false);
        pitch = r->res.pitch2D.pitchInBytes;
    }
    return cudaTextureMake(out, &made, pitch, t->addressMode[0], t->normalizedCoords,
                           t->filterMode == cudaFilterModeLinear,
                           t->readMode == cudaReadModeNormalizedFloat, site);
}
static inline cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *out,
                                                  const cudaResourceDesc *r,
                                                  simt::Site site = simt::Site::here()) {
    return cudaTextureMake(out, &r->res.array.array->texels, 0, 1, 0, 0, 0, site);
}
