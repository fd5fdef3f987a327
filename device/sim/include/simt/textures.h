// textures.h - texture and surface objects: a device.Texture of Go's, whose handle is its
// address. What is fetched, and from where, is worked out by the runtime (texture.cpp).
#pragma once

typedef unsigned long long cudaTextureObject_t;
typedef unsigned long long cudaSurfaceObject_t;
// What the host makes textures with: kernels' own types may name it.
enum cudaTextureReadMode { cudaReadModeElementType, cudaReadModeNormalizedFloat };
enum cudaTextureFilterMode { cudaFilterModePoint, cudaFilterModeLinear };
enum cudaTextureAddressMode {
    cudaAddressModeWrap,
    cudaAddressModeClamp,
    cudaAddressModeMirror,
    cudaAddressModeBorder,
};
struct cudaExtent {
    size_t width, height, depth;
};
enum cudaSurfaceBoundaryMode {
    cudaBoundaryModeZero,
    cudaBoundaryModeClamp,
    cudaBoundaryModeTrap,
};

extern "C" {
// The place is in texels, or in 0 to 1; a layer is counted in whole textures. T's members have
// so many bytes, and a kind: 0 unsigned, 1 signed, 2 floating-point.
void simt_texture(void *to, unsigned long long handle, const char *name, int bytes, int kind,
                  int members, float x, float y, float z, int layer);
void simt_texture_linear(void *to, unsigned long long handle, int bytes, int kind, int members,
                         int i);
void simt_texture_gather(void *to, unsigned long long handle, int bytes, int kind, float x, float y,
                         int member);
void simt_surface(void *value, bool write, unsigned long long handle, const char *name, int bytes,
                  int x, int y, int z, int mode);
}

namespace simt {
template <class T, class = void> struct Texel {
    typedef T Member;
    static constexpr int members = 1;
};
template <class T> struct Texel<T, std::void_t<decltype(T::x)>> {
    typedef std::remove_cv_t<decltype(T::x)> Member;
    static constexpr int members = sizeof(T) / sizeof(Member);
};
template <class T> struct TexelOf : Texel<T> {
    typedef typename Texel<T>::Member Member;
    static constexpr int bytes = sizeof(Member);
    static constexpr int kind = std::is_floating_point_v<Member> ? 2
                                : std::is_signed_v<Member>       ? 1
                                                                 : 0;
    static_assert(std::is_arithmetic_v<Member> && bytes <= 4 && Texel<T>::members != 3,
                  "a texture has texels of one, two or four numbers of at most 32 bits");
};
template <class T>
SIMT_INLINE T fetch(unsigned long long t, const char *name, float x, float y = 0, float z = 0,
                    int layer = 0) {
    typedef TexelOf<T> K;
    T v{};
    simt_texture(&v, t, name, K::bytes, K::kind, K::members, x, y, z, layer);
    return v;
}
} // namespace simt

// Each in both its forms: v = tex2D<T>(t, …), and tex2D(&v, t, …). A texture has one level, so
// levels and gradients change nothing.
#define SIMT_ALL(...) __VA_ARGS__
#define SIMT_TEXTURE(name, parameters, arguments, ...)                                             \
    template <class T> SIMT_INLINE T name(cudaTextureObject_t t, SIMT_ALL parameters) {            \
        return simt::fetch<T>(t, #name, __VA_ARGS__);                                              \
    }                                                                                              \
    template <class T> SIMT_INLINE void name(T *v, cudaTextureObject_t t, SIMT_ALL parameters) {   \
        *v = name<T>(t, SIMT_ALL arguments);                                                       \
    }
SIMT_TEXTURE(tex1D, (float x), (x), x)
SIMT_TEXTURE(tex1DLod, (float x, float level), (x, level), x)
SIMT_TEXTURE(tex1DGrad, (float x, float dx, float dy), (x, dx, dy), x)
SIMT_TEXTURE(tex1DLayered, (float x, int layer), (x, layer), x, 0, 0, layer)
SIMT_TEXTURE(tex2D, (float x, float y), (x, y), x, y)
SIMT_TEXTURE(tex2DLod, (float x, float y, float level), (x, y, level), x, y)
SIMT_TEXTURE(tex2DGrad, (float x, float y, float2 dx, float2 dy), (x, y, dx, dy), x, y)
SIMT_TEXTURE(tex2DLayered, (float x, float y, int layer), (x, y, layer), x, y, 0, layer)
SIMT_TEXTURE(tex3D, (float x, float y, float z), (x, y, z), x, y, z)
SIMT_TEXTURE(tex3DLod, (float x, float y, float z, float level), (x, y, z, level), x, y, z)
SIMT_TEXTURE(texCubemap, (float x, float y, float z), (x, y, z), x, y, z)

template <class T> SIMT_INLINE T tex1Dfetch(cudaTextureObject_t t, int i) {
    typedef simt::TexelOf<T> K;
    T v{};
    simt_texture_linear(&v, t, K::bytes, K::kind, K::members, i);
    return v;
}
template <class T> SIMT_INLINE void tex1Dfetch(T *v, cudaTextureObject_t t, int i) {
    *v = tex1Dfetch<T>(t, i);
}
template <class T>
SIMT_INLINE T tex2Dgather(cudaTextureObject_t t, float x, float y, int member = 0) {
    typedef simt::TexelOf<T> K;
    static_assert(K::members == 4, "tex2Dgather gives four numbers: one of each texel");
    T v{};
    simt_texture_gather(&v, t, K::bytes, K::kind, x, y, member);
    return v;
}
template <class T>
SIMT_INLINE void tex2Dgather(T *v, cudaTextureObject_t t, float x, float y, int member = 0) {
    *v = tex2Dgather<T>(t, x, y, member);
}

// A surface's x is in bytes.
#define SIMT_SURFACE(name, parameters, arguments, ...)                                             \
    template <class T>                                                                             \
    SIMT_INLINE T name##read(cudaSurfaceObject_t s, SIMT_ALL parameters,                           \
                             cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {                \
        T v{};                                                                                     \
        simt_surface(&v, false, s, #name "read", sizeof(T), __VA_ARGS__, mode);                    \
        return v;                                                                                  \
    }                                                                                              \
    template <class T>                                                                             \
    SIMT_INLINE void name##read(T *v, cudaSurfaceObject_t s, SIMT_ALL parameters,                  \
                                cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {             \
        *v = name##read<T>(s, SIMT_ALL arguments, mode);                                           \
    }                                                                                              \
    template <class T>                                                                             \
    SIMT_INLINE void name##write(T v, cudaSurfaceObject_t s, SIMT_ALL parameters,                  \
                                 cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {            \
        simt_surface(&v, true, s, #name "write", sizeof(T), __VA_ARGS__, mode);                    \
    }
SIMT_SURFACE(surf1D, (int x), (x), x, 0, 0)
SIMT_SURFACE(surf2D, (int x, int y), (x, y), x, y, 0)
SIMT_SURFACE(surf3D, (int x, int y, int z), (x, y, z), x, y, z)
SIMT_SURFACE(surf1DLayered, (int x, int layer), (x, layer), x, 0, layer)
SIMT_SURFACE(surf2DLayered, (int x, int y, int layer), (x, y, layer), x, y, layer)
#undef SIMT_TEXTURE
#undef SIMT_SURFACE
#undef SIMT_ALL
