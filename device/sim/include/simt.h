// simt.h - CUDA C++ for an ordinary C++ compiler: force-included before a .cu
// file that holds device code. It replaces what nvcc has built in.
#pragma once
// Standard headers that a .cu file may include again: first here, before the
// words below mean something else.
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <type_traits>
#include <utility>

#define __CUDACC__ 1
#define __CUDACC_VER_MAJOR__ 12
#define __CUDACC_VER_MINOR__ 0
// As nvcc has it for sm_90a, for which the course compiles where it can.
#define __CUDA_ARCH__ 900
#define __CUDA_ARCH_FEAT_SM90_ALL 1
#define CUDART_VERSION 12000
#define CUDA_VERSION 12000
#define FLASHLAB_SIM 1

#include "simt/qualifiers.h"

#include "simt/vectors.h"

#include "simt/indices.h"

#include "simt/barriers.h"

#include "simt/cluster.h"

#include "simt/warp.h"

#include "simt/atomics.h"

#include "simt/rounding.h"

#include "simt/arithmetic.h"

#include "simt/conversions.h"

#include "simt/integers.h"

#include "simt/packed.h"

#include "simt/dpx.h"

#include "simt/functions.h"

#include "simt/memory.h"

#include "simt/textures.h"

#include "simt/undefined.h"

#include "simt/handles.h"

#include "simt/kernel.h"
