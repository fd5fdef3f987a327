// cuda_fp16.h - halves, as HIP has them.
#pragma once
#include <hip/hip_fp16.h>
