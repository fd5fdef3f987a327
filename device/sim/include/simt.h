// simt.h - CUDA C++ for an ordinary C++ compiler: force-included before a .cu
// file that holds device code. It stands for what nvcc defines by itself.
#pragma once
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include <type_traits>
#include <utility>

#define __CUDACC__ 1
#define __CUDA_ARCH__ 800
#define FLASHLAB_SIM 1

#include "simt/qualifiers.h"

#include "simt/vectors.h"

#include "simt/indices.h"

#include "simt/barriers.h"

#include "simt/warp.h"

#include "simt/atomics.h"

#include "simt/arithmetic.h"

#include "simt/kernel.h"
