// handles.h - types of the host's runtime that structures and aliases name which kernels use, too.
#pragma once

#if !__has_include("program/program.h") // a whole program has the runtime's own
typedef struct CUstream_st *cudaStream_t, *CUstream;
typedef struct CUevent_st *cudaEvent_t, *CUevent;
typedef struct CUgraph_st *cudaGraph_t;
typedef struct CUgraphExec_st *cudaGraphExec_t;
enum cudaError { cudaSuccess };
typedef enum cudaError cudaError_t;
#endif
