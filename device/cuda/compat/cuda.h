// cuda.h as gorgonia.org/cu v0.9.6 knows it. This folder comes before the
// toolkit's on the include path (see nvcc.CgoEnv), so this file is found first.
//
// CUDA 13 points five names at newer functions with other parameters. The
// driver still exports the older ones, so we declare those again. With older
// toolkits this file adds nothing.
#ifndef FLASHLAB_COMPAT_CUDA_H
#define FLASHLAB_COMPAT_CUDA_H

#include_next <cuda.h>

#if CUDA_VERSION >= 13000

#undef cuCtxCreate
#undef cuMemAdvise
#undef cuMemPrefetchAsync
#undef cuGraphAddDependencies
#undef cuGraphGetEdges

#ifdef __cplusplus
extern "C" {
#endif

CUresult CUDAAPI cuCtxCreate_v2(CUcontext *context, unsigned int flags, CUdevice device);
CUresult CUDAAPI cuMemAdvise(CUdeviceptr at, size_t bytes, CUmem_advise advice, CUdevice device);
CUresult CUDAAPI cuMemPrefetchAsync(CUdeviceptr at, size_t bytes, CUdevice device, CUstream stream);
CUresult CUDAAPI cuGraphAddDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t count);
CUresult CUDAAPI cuGraphGetEdges(CUgraph graph, CUgraphNode *from, CUgraphNode *to, size_t *count);

#ifdef __cplusplus
}
#endif

// The unversioned cuCtxCreate is older still: it belongs to 32-bit pointers.
#define cuCtxCreate cuCtxCreate_v2

#endif
#endif
