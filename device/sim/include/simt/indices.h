// indices.h - threadIdx, blockIdx, blockDim, gridDim, warpSize. They must read
// as constants, or every use would be a checked and counted memory access.
#pragma once

#ifdef __clang__
// clang instruments reads of thread-local constants; a getter that the
// compiler knows to be pure is what it uses for real CUDA, too.
#define SIMT_INDEX(v)                                                                              \
    extern "C" __attribute__((const)) unsigned simt_##v##_x();                                     \
    extern "C" __attribute__((const)) unsigned simt_##v##_y();                                     \
    extern "C" __attribute__((const)) unsigned simt_##v##_z();                                     \
    struct simt_type_##v {                                                                         \
        __declspec(property(get = getX)) unsigned x;                                               \
        __declspec(property(get = getY)) unsigned y;                                               \
        __declspec(property(get = getZ)) unsigned z;                                               \
        SIMT_UNSEEN unsigned getX() const {                                                        \
            return simt_##v##_x();                                                                 \
        }                                                                                          \
        SIMT_UNSEEN unsigned getY() const {                                                        \
            return simt_##v##_y();                                                                 \
        }                                                                                          \
        SIMT_UNSEEN unsigned getZ() const {                                                        \
            return simt_##v##_z();                                                                 \
        }                                                                                          \
        operator uint3() const {                                                                   \
            return uint3{getX(), getY(), getZ()};                                                  \
        }                                                                                          \
        operator dim3() const {                                                                    \
            return dim3(getX(), getY(), getZ());                                                   \
        }                                                                                          \
    };                                                                                             \
    static const simt_type_##v v{};
SIMT_INDEX(threadIdx)
SIMT_INDEX(blockIdx)
SIMT_INDEX(blockDim)
SIMT_INDEX(gridDim)
#else
// g++ does not instrument reads of a const variable.
extern "C" {
extern __thread __attribute__((tls_model("initial-exec"))) const uint3 simt_threadIdx,
    simt_blockIdx, simt_blockDim, simt_gridDim;
}
#define threadIdx simt_threadIdx
#define blockIdx simt_blockIdx
#define blockDim simt_blockDim
#define gridDim simt_gridDim
#endif

static constexpr int warpSize = 32;
