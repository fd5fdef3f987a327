// early.h - for kernels that are launched early (device.Launch): in a recorded graph such a kernel
// begins while the one before it still runs.
#pragma once

// The next kernel may begin once all blocks of this one have called this, or ended.
__device__ __forceinline__ void letTheNextBegin() {
#if __CUDA_ARCH__ >= 900
    cudaTriggerProgrammaticLaunchCompletion();
#endif
}
// Behind this the kernel before has ended, and what it wrote is there. Until then a block may read
// only what no kernel ahead writes, weights say.
__device__ __forceinline__ void waitForTheOneBefore() {
#if __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();
#endif
}
// Every block calls this, and only then touches memory.
__device__ __forceinline__ void waitForInputs() {
    letTheNextBegin();
    waitForTheOneBefore();
}
