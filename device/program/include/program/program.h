// program.h - what a whole program sees behind simt.h: CUDA's runtime, and the names of the C
// library that simt.h gives another meaning.
#pragma once

#define __NVCC__ 1
// By these, libraries of helpers know which of CUDA's headers have been read.
#define __CUDA_RUNTIME_H__ 1
#define __CUDA_RUNTIME_API_H__ 1
#define __DRIVER_TYPES_H__ 1
#define __VECTOR_TYPES_H__ 1
#define CUDARTAPI
#define CUDART_CB
#define CUDA_CB
#define __CUDART_API_VERSION CUDART_VERSION

namespace std {
using ::simt_clock32;
using ::simt_printf;
} // namespace std

#include "program/api.h"
#include "program/textures.h"
