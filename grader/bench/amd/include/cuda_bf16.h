// cuda_bf16.h - nothing yet: the kernels are compiled for halves here. HIP 5 has numbers of
// bfloat16, but no pairs.
#pragma once
