// flashlab_torch.h - PyTorch's scalar types as kernels use them. PyTorch's own headers, which are
// empty here, include it where FLASHLAB_TORCH is defined. Arithmetic goes through float, as c10's
// does.
#pragma once
#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "cuda_fp8.h"

#define C10_HOST_DEVICE __host__ __device__
#define C10_DEVICE __device__
#define C10_HOST __host__
#define C10_ALWAYS_INLINE inline __attribute__((__always_inline__))

namespace c10 {
namespace simt_detail {
// Native is CUDA's type of the same bits.
template <class Native> struct Scalar {
    Native native;

    Scalar() = default;
    __attribute__((always_inline)) Scalar(float v) : native(v) {}
    __attribute__((always_inline)) Scalar(const Native &v) : native(v) {}
    __attribute__((always_inline)) operator float() const { return (float)native; }
    __attribute__((always_inline)) operator Native() const { return native; }
#define SIMT_TORCH_ASSIGN(sign)                                                                    \
    __attribute__((always_inline)) Scalar &operator sign##=(const Scalar &other) {                 \
        return *this = Scalar((float)*this sign(float) other);                                     \
    }
    SIMT_TORCH_ASSIGN(+)
    SIMT_TORCH_ASSIGN(-)
    SIMT_TORCH_ASSIGN(*)
    SIMT_TORCH_ASSIGN(/)
#undef SIMT_TORCH_ASSIGN
    __attribute__((always_inline)) Scalar operator-() const { return Scalar(-(float)*this); }
};
#define SIMT_TORCH_OPERATOR(sign)                                                                  \
    template <class N>                                                                             \
    SIMT_INLINE Scalar<N> operator sign(const Scalar<N> &a, const Scalar<N> &b) {                  \
        return Scalar<N>((float)a sign(float) b);                                                  \
    }                                                                                              \
    template <class N> SIMT_INLINE float operator sign(const Scalar<N> &a, float b) {              \
        return (float)a sign b;                                                                    \
    }                                                                                              \
    template <class N> SIMT_INLINE float operator sign(float a, const Scalar<N> &b) {              \
        return a sign(float) b;                                                                    \
    }
SIMT_TORCH_OPERATOR(+)
SIMT_TORCH_OPERATOR(-)
SIMT_TORCH_OPERATOR(*)
SIMT_TORCH_OPERATOR(/)
#undef SIMT_TORCH_OPERATOR
} // namespace simt_detail

typedef simt_detail::Scalar<__half> Half;
typedef simt_detail::Scalar<__nv_bfloat16> BFloat16;
typedef simt_detail::Scalar<__nv_fp8_e4m3> Float8_e4m3fn;
typedef simt_detail::Scalar<__nv_fp8_e5m2> Float8_e5m2;
} // namespace c10

namespace at {
using c10::BFloat16;
using c10::Float8_e4m3fn;
using c10::Float8_e5m2;
using c10::Half;

// What sums of a type are kept in.
template <class T> struct OpMathType {
    typedef T type;
};
template <class N> struct OpMathType<c10::simt_detail::Scalar<N>> {
    typedef float type;
};
template <class T> using opmath_type = typename OpMathType<T>::type;
template <class T, bool> using acc_type = opmath_type<T>;
} // namespace at

namespace torch {
using c10::BFloat16;
using c10::Half;
} // namespace torch
