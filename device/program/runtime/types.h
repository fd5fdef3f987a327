// types.h - the types of CUDA's runtime, with its names and numbers. The program and the runtime
// behind it both read this.
#pragma once
#include <stddef.h>

// The name, CUDA's number, what cudaGetErrorString says.
#define SIMT_ERRORS(E)                                                                             \
    E(cudaSuccess, 0, "no error")                                                                  \
    E(cudaErrorInvalidValue, 1, "invalid argument")                                                \
    E(cudaErrorMemoryAllocation, 2, "out of memory")                                               \
    E(cudaErrorInitializationError, 3, "initialization error")                                     \
    E(cudaErrorCudartUnloading, 4, "driver shutting down")                                         \
    E(cudaErrorInvalidConfiguration, 9, "invalid configuration argument")                          \
    E(cudaErrorInvalidPitchValue, 12, "invalid pitch argument")                                    \
    E(cudaErrorInvalidSymbol, 13, "invalid device symbol")                                         \
    E(cudaErrorInvalidHostPointer, 16, "invalid host pointer")                                     \
    E(cudaErrorInvalidDevicePointer, 17, "invalid device pointer")                                 \
    E(cudaErrorInvalidMemcpyDirection, 21, "invalid copy direction for memcpy")                    \
    E(cudaErrorInsufficientDriver, 35,                                                             \
      "CUDA driver version is insufficient for CUDA runtime version")                              \
    E(cudaErrorMissingConfiguration, 52, "__global__ function call is not configured")             \
    E(cudaErrorInvalidDeviceFunction, 98, "invalid device function")                               \
    E(cudaErrorNoDevice, 100, "no CUDA-capable device is detected")                                \
    E(cudaErrorInvalidDevice, 101, "invalid device ordinal")                                       \
    E(cudaErrorInvalidKernelImage, 200, "device kernel image is invalid")                          \
    E(cudaErrorECCUncorrectable, 214, "uncorrectable ECC error encountered")                       \
    E(cudaErrorPeerAccessUnsupported, 217,                                                         \
      "peer access is not supported between these two devices")                                    \
    E(cudaErrorInvalidPtx, 218, "a PTX JIT compilation failed")                                    \
    E(cudaErrorInvalidResourceHandle, 400, "invalid resource handle")                              \
    E(cudaErrorIllegalState, 401, "the operation cannot be performed in the present state")        \
    E(cudaErrorSymbolNotFound, 500, "named symbol not found")                                      \
    E(cudaErrorNotReady, 600, "device not ready")                                                  \
    E(cudaErrorIllegalAddress, 700, "an illegal memory access was encountered")                    \
    E(cudaErrorLaunchOutOfResources, 701, "too many resources requested for launch")               \
    E(cudaErrorLaunchTimeout, 702, "the launch timed out and was terminated")                      \
    E(cudaErrorPeerAccessAlreadyEnabled, 704, "peer access is already enabled")                    \
    E(cudaErrorPeerAccessNotEnabled, 705, "peer access has not been enabled")                      \
    E(cudaErrorAssert, 710, "device-side assert triggered")                                        \
    E(cudaErrorHostMemoryAlreadyRegistered, 712,                                                   \
      "part or all of the requested memory range is already mapped")                               \
    E(cudaErrorHostMemoryNotRegistered, 713,                                                       \
      "pointer does not correspond to a registered memory region")                                 \
    E(cudaErrorIllegalInstruction, 715, "an illegal instruction was encountered")                  \
    E(cudaErrorMisalignedAddress, 716, "misaligned address")                                       \
    E(cudaErrorLaunchFailure, 719, "unspecified launch failure")                                   \
    E(cudaErrorCooperativeLaunchTooLarge, 720, "too many blocks in cooperative launch")            \
    E(cudaErrorNotPermitted, 800, "operation not permitted")                                       \
    E(cudaErrorNotSupported, 801, "operation not supported")                                       \
    E(cudaErrorStreamCaptureUnsupported, 900, "operation not permitted when stream is capturing")  \
    E(cudaErrorUnknown, 999, "unknown error")

enum cudaError {
#define SIMT_ERROR(name, number, text) name = number,
    SIMT_ERRORS(SIMT_ERROR)
#undef SIMT_ERROR
};
typedef enum cudaError cudaError_t;

enum cudaMemcpyKind {
    cudaMemcpyHostToHost,
    cudaMemcpyHostToDevice,
    cudaMemcpyDeviceToHost,
    cudaMemcpyDeviceToDevice,
    cudaMemcpyDefault,
};

typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;
typedef void (*cudaStreamCallback_t)(cudaStream_t stream, cudaError_t status, void *data);
typedef void (*cudaHostFn_t)(void *data);

#define cudaStreamDefault 0x00
#define cudaStreamNonBlocking 0x01
#define cudaStreamLegacy ((cudaStream_t)0x1)
#define cudaStreamPerThread ((cudaStream_t)0x2)
#define cudaEventDefault 0x00
#define cudaEventBlockingSync 0x01
#define cudaEventDisableTiming 0x02
#define cudaEventInterprocess 0x04
#define cudaEventRecordDefault 0x00
#define cudaEventWaitDefault 0x00
#define cudaHostAllocDefault 0x00
#define cudaHostAllocPortable 0x01
#define cudaHostAllocMapped 0x02
#define cudaHostAllocWriteCombined 0x04
#define cudaHostRegisterDefault 0x00
#define cudaHostRegisterPortable 0x01
#define cudaHostRegisterMapped 0x02
#define cudaMemAttachGlobal 0x01
#define cudaMemAttachHost 0x02
#define cudaMemAttachSingle 0x04
#define cudaDeviceScheduleAuto 0x00
#define cudaDeviceScheduleSpin 0x01
#define cudaDeviceScheduleYield 0x02
#define cudaDeviceScheduleBlockingSync 0x04
#define cudaDeviceBlockingSync 0x04
#define cudaDeviceMapHost 0x08
#define cudaOccupancyDefault 0x00
#define cudaCpuDeviceId ((int)-1)
#define cudaInvalidDeviceId ((int)-2)

typedef struct CUuuid_st {
    char bytes[16];
} CUuuid;
typedef CUuuid cudaUUID_t;

struct cudaDeviceProp {
    char name[256];
    cudaUUID_t uuid;
    size_t totalGlobalMem, sharedMemPerBlock;
    int regsPerBlock, warpSize;
    size_t memPitch;
    int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], clockRate;
    size_t totalConstMem;
    int major, minor;
    size_t textureAlignment, texturePitchAlignment;
    int deviceOverlap, multiProcessorCount, kernelExecTimeoutEnabled, integrated, canMapHostMemory,
        computeMode;
    int maxTexture1D, maxTexture2D[2], maxTexture3D[3], maxTexture1DLayered[2],
        maxTexture2DLayered[3];
    size_t surfaceAlignment;
    int concurrentKernels, ECCEnabled, pciBusID, pciDeviceID, pciDomainID, tccDriver,
        asyncEngineCount, unifiedAddressing, memoryClockRate, memoryBusWidth, l2CacheSize,
        persistingL2CacheMaxSize, maxThreadsPerMultiProcessor, streamPrioritiesSupported,
        globalL1CacheSupported, localL1CacheSupported;
    size_t sharedMemPerMultiprocessor;
    int regsPerMultiprocessor, managedMemory, isMultiGpuBoard, multiGpuBoardGroupID,
        hostNativeAtomicSupported, singleToDoublePrecisionPerfRatio, pageableMemoryAccess,
        concurrentManagedAccess, computePreemptionSupported, canUseHostPointerForRegisteredMem,
        cooperativeLaunch, cooperativeMultiDeviceLaunch;
    size_t sharedMemPerBlockOptin;
    int pageableMemoryAccessUsesHostPageTables, directManagedMemAccessFromHost,
        maxBlocksPerMultiProcessor, accessPolicyMaxWindowSize;
    size_t reservedSharedMemPerBlock;
    int hostRegisterSupported, clusterLaunch, memoryPoolsSupported;
};

struct cudaFuncAttributes {
    size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
    int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, cacheModeCA,
        maxDynamicSharedSizeBytes, preferredShmemCarveout;
};

enum cudaMemoryType {
    cudaMemoryTypeUnregistered,
    cudaMemoryTypeHost,
    cudaMemoryTypeDevice,
    cudaMemoryTypeManaged,
};
struct cudaPointerAttributes {
    enum cudaMemoryType type;
    int device;
    void *devicePointer, *hostPointer;
};

enum cudaFuncAttribute {
    cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
    cudaFuncAttributePreferredSharedMemoryCarveout = 9,
    cudaFuncAttributeClusterDimMustBeSet = 10,
    cudaFuncAttributeRequiredClusterWidth = 11,
    cudaFuncAttributeRequiredClusterHeight = 12,
    cudaFuncAttributeRequiredClusterDepth = 13,
    cudaFuncAttributeNonPortableClusterSizeAllowed = 14,
};
enum cudaFuncCache {
    cudaFuncCachePreferNone,
    cudaFuncCachePreferShared,
    cudaFuncCachePreferL1,
    cudaFuncCachePreferEqual,
};
enum cudaSharedMemConfig {
    cudaSharedMemBankSizeDefault,
    cudaSharedMemBankSizeFourByte,
    cudaSharedMemBankSizeEightByte,
};
enum cudaSharedCarveout {
    cudaSharedmemCarveoutDefault = -1,
    cudaSharedmemCarveoutMaxL1 = 0,
    cudaSharedmemCarveoutMaxShared = 100,
};
enum cudaLimit {
    cudaLimitStackSize,
    cudaLimitPrintfFifoSize,
    cudaLimitMallocHeapSize,
    cudaLimitDevRuntimeSyncDepth,
    cudaLimitDevRuntimePendingLaunchCount,
    cudaLimitMaxL2FetchGranularity,
    cudaLimitPersistingL2CacheSize,
};
// How a stream wants the L2 cache to be used: kept, and of no effect here.
enum cudaAccessProperty {
    cudaAccessPropertyNormal,
    cudaAccessPropertyStreaming,
    cudaAccessPropertyPersisting,
};
struct cudaAccessPolicyWindow {
    void *base_ptr;
    size_t num_bytes;
    float hitRatio;
    enum cudaAccessProperty hitProp, missProp;
};
enum cudaStreamAttrID {
    cudaStreamAttributeAccessPolicyWindow = 1,
    cudaStreamAttributeSynchronizationPolicy = 3,
    cudaStreamAttributePriority = 8,
};
union cudaStreamAttrValue {
    char pad[64];
    struct cudaAccessPolicyWindow accessPolicyWindow;
    int syncPolicy, priority;
};
enum cudaComputeMode {
    cudaComputeModeDefault,
    cudaComputeModeExclusive,
    cudaComputeModeProhibited,
    cudaComputeModeExclusiveProcess,
};
enum cudaMemoryAdvise {
    cudaMemAdviseSetReadMostly = 1,
    cudaMemAdviseUnsetReadMostly,
    cudaMemAdviseSetPreferredLocation,
    cudaMemAdviseUnsetPreferredLocation,
    cudaMemAdviseSetAccessedBy,
    cudaMemAdviseUnsetAccessedBy,
};

// The name, CUDA's number, and this device's answer.
#define SIMT_ATTRIBUTES(A)                                                                         \
    A(cudaDevAttrMaxThreadsPerBlock, 1, p.maxThreadsPerBlock)                                      \
    A(cudaDevAttrMaxBlockDimX, 2, p.maxThreadsDim[0])                                              \
    A(cudaDevAttrMaxBlockDimY, 3, p.maxThreadsDim[1])                                              \
    A(cudaDevAttrMaxBlockDimZ, 4, p.maxThreadsDim[2])                                              \
    A(cudaDevAttrMaxGridDimX, 5, p.maxGridSize[0])                                                 \
    A(cudaDevAttrMaxGridDimY, 6, p.maxGridSize[1])                                                 \
    A(cudaDevAttrMaxGridDimZ, 7, p.maxGridSize[2])                                                 \
    A(cudaDevAttrMaxSharedMemoryPerBlock, 8, (int)p.sharedMemPerBlock)                             \
    A(cudaDevAttrTotalConstantMemory, 9, (int)p.totalConstMem)                                     \
    A(cudaDevAttrWarpSize, 10, p.warpSize)                                                         \
    A(cudaDevAttrMaxRegistersPerBlock, 12, p.regsPerBlock)                                         \
    A(cudaDevAttrClockRate, 13, p.clockRate)                                                       \
    A(cudaDevAttrTextureAlignment, 14, (int)p.textureAlignment)                                    \
    A(cudaDevAttrGpuOverlap, 15, p.deviceOverlap)                                                  \
    A(cudaDevAttrMultiProcessorCount, 16, p.multiProcessorCount)                                   \
    A(cudaDevAttrKernelExecTimeout, 17, p.kernelExecTimeoutEnabled)                                \
    A(cudaDevAttrIntegrated, 18, p.integrated)                                                     \
    A(cudaDevAttrCanMapHostMemory, 19, p.canMapHostMemory)                                         \
    A(cudaDevAttrComputeMode, 20, p.computeMode)                                                   \
    A(cudaDevAttrConcurrentKernels, 31, p.concurrentKernels)                                       \
    A(cudaDevAttrEccEnabled, 32, p.ECCEnabled)                                                     \
    A(cudaDevAttrMemoryClockRate, 36, p.memoryClockRate)                                           \
    A(cudaDevAttrGlobalMemoryBusWidth, 37, p.memoryBusWidth)                                       \
    A(cudaDevAttrL2CacheSize, 38, p.l2CacheSize)                                                   \
    A(cudaDevAttrMaxThreadsPerMultiProcessor, 39, p.maxThreadsPerMultiProcessor)                   \
    A(cudaDevAttrAsyncEngineCount, 40, p.asyncEngineCount)                                         \
    A(cudaDevAttrUnifiedAddressing, 41, p.unifiedAddressing)                                       \
    A(cudaDevAttrComputeCapabilityMajor, 75, p.major)                                              \
    A(cudaDevAttrComputeCapabilityMinor, 76, p.minor)                                              \
    A(cudaDevAttrMaxSharedMemoryPerMultiprocessor, 81, (int)p.sharedMemPerMultiprocessor)          \
    A(cudaDevAttrMaxRegistersPerMultiprocessor, 82, p.regsPerMultiprocessor)                       \
    A(cudaDevAttrManagedMemory, 83, p.managedMemory)                                               \
    A(cudaDevAttrHostNativeAtomicSupported, 86, p.hostNativeAtomicSupported)                       \
    A(cudaDevAttrSingleToDoublePrecisionPerfRatio, 87, p.singleToDoublePrecisionPerfRatio)         \
    A(cudaDevAttrPageableMemoryAccess, 88, p.pageableMemoryAccess)                                 \
    A(cudaDevAttrConcurrentManagedAccess, 89, p.concurrentManagedAccess)                           \
    A(cudaDevAttrComputePreemptionSupported, 90, p.computePreemptionSupported)                     \
    A(cudaDevAttrCooperativeLaunch, 95, p.cooperativeLaunch)                                       \
    A(cudaDevAttrMaxSharedMemoryPerBlockOptin, 97, (int)p.sharedMemPerBlockOptin)                  \
    A(cudaDevAttrMaxBlocksPerMultiprocessor, 106, p.maxBlocksPerMultiProcessor)                    \
    A(cudaDevAttrReservedSharedMemoryPerBlock, 111, (int)p.reservedSharedMemPerBlock)              \
    A(cudaDevAttrMemoryPoolsSupported, 115, p.memoryPoolsSupported)                                \
    A(cudaDevAttrClusterLaunch, 120, p.clusterLaunch)

enum cudaDeviceAttr {
#define SIMT_ATTRIBUTE(name, number, answer) name = number,
    SIMT_ATTRIBUTES(SIMT_ATTRIBUTE)
#undef SIMT_ATTRIBUTE
};

// Texels in device memory, without gaps: what a cudaArray is here, and what a texture reads.
struct simt_texels {
    void *at;
    unsigned width, height, depth;               // height 0: a line; depth 0: a plane
    unsigned char bytes, members, kind, layered; // kind: 0 unsigned, 1 signed, 2 floating-point
};
struct cudaArray {
    struct simt_texels texels;
};
typedef struct cudaArray *cudaArray_t;
typedef const struct cudaArray *cudaArray_const_t;

// What stands for a kernel while the program runs: a constant within its body
// (device/sim/program.go).
struct simt_kernel_info {
    void (*call)(void **args); // the last of which is the kernel's address
    int count;
    const unsigned short *sizes;
    const char *kinds;
    const unsigned *cluster, *bounds; // three numbers, two
};
