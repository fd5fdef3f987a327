// hostdevice.cpp - the one device that there is: an H100's numbers.
#include <cstdio>
#include <cstring>

#include "host.h"

namespace simt::program {

const cudaDeviceProp &properties() {
    static const cudaDeviceProp all = [] {
        cudaDeviceProp p{};
        snprintf(p.name, sizeof p.name, "NVIDIA H100 80GB HBM3 (simulated by flashlab)");
        p.totalGlobalMem = 84978565120;
        p.sharedMemPerBlock = 49152;
        p.regsPerBlock = p.regsPerMultiprocessor = 65536;
        p.warpSize = 32;
        p.memPitch = 2147483647;
        p.maxThreadsPerBlock = p.maxThreadsDim[0] = p.maxThreadsDim[1] = 1024;
        p.maxThreadsDim[2] = 64;
        p.maxGridSize[0] = 2147483647;
        p.maxGridSize[1] = p.maxGridSize[2] = 65535;
        p.clockRate = 1980000;
        p.totalConstMem = 65536;
        p.major = 9;
        p.textureAlignment = p.surfaceAlignment = 512;
        p.texturePitchAlignment = 32;
        p.deviceOverlap = p.canMapHostMemory = p.concurrentKernels = p.ECCEnabled = 1;
        p.multiProcessorCount = 132;
        p.maxTexture1D = p.maxTexture2D[0] = 131072;
        p.maxTexture2D[1] = 65536;
        p.maxTexture3D[0] = p.maxTexture3D[1] = p.maxTexture3D[2] = 16384;
        p.maxTexture1DLayered[0] = p.maxTexture2DLayered[0] = p.maxTexture2DLayered[1] = 32768;
        p.maxTexture1DLayered[1] = p.maxTexture2DLayered[2] = 2048;
        p.asyncEngineCount = 3;
        p.unifiedAddressing = p.streamPrioritiesSupported = p.globalL1CacheSupported =
            p.localL1CacheSupported = p.managedMemory = p.computePreemptionSupported =
                p.concurrentManagedAccess = p.cooperativeLaunch = p.clusterLaunch =
                    p.memoryPoolsSupported = 1;
        p.memoryClockRate = 2619000;
        p.memoryBusWidth = 5120;
        p.l2CacheSize = 52428800;
        p.maxThreadsPerMultiProcessor = 2048;
        p.sharedMemPerMultiprocessor = 233472;
        p.singleToDoublePrecisionPerfRatio = 2;
        p.sharedMemPerBlockOptin = 232448;
        p.maxBlocksPerMultiProcessor = 32;
        p.reservedSharedMemPerBlock = 1024;
        return p;
    }();
    return all;
}

namespace {
cudaError_t only(int device) {
    return device == 0 ? cudaSuccess : failed(cudaErrorInvalidDevice);
}
// What streams were told of the L2 cache and the like is kept, and changes nothing here.
std::map<std::pair<const Stream *, int>, cudaStreamAttrValue> attributes;
size_t limits[] = {1024, 1 << 20, 8 << 20, 2, 2048, 64, 0};
unsigned deviceFlags;
} // namespace
} // namespace simt::program

extern "C" {
using namespace simt::program;

cudaError_t simt_cudaGetDeviceCount(int *count) {
    SIMT_ENTER();
    *count = 1;
    return cudaSuccess;
}
cudaError_t simt_cudaGetDevice(int *device) {
    SIMT_ENTER();
    *device = 0;
    return cudaSuccess;
}
cudaError_t simt_cudaSetDevice(int device) {
    SIMT_ENTER();
    return only(device);
}
cudaError_t simt_cudaSetDeviceFlags(unsigned flags) {
    SIMT_ENTER();
    deviceFlags = flags;
    return cudaSuccess;
}
cudaError_t simt_cudaGetDeviceFlags(unsigned *flags) {
    SIMT_ENTER();
    *flags = deviceFlags;
    return cudaSuccess;
}
cudaError_t simt_cudaGetDeviceProperties(cudaDeviceProp *p, int device) {
    SIMT_ENTER();
    *p = properties();
    return only(device);
}
cudaError_t simt_cudaChooseDevice(int *device, const cudaDeviceProp *) {
    SIMT_ENTER();
    *device = 0;
    return cudaSuccess;
}
cudaError_t simt_cudaDeviceGetAttribute(int *value, cudaDeviceAttr a, int device) {
    SIMT_ENTER();
    const cudaDeviceProp &p = properties();
    switch (a) {
#define SIMT_ANSWER(name, number, answer)                                                          \
    case name:                                                                                     \
        *value = answer;                                                                           \
        return only(device);
        SIMT_ATTRIBUTES(SIMT_ANSWER)
    }
    *value = 0;
    return failed(cudaErrorInvalidValue);
}
cudaError_t simt_cudaDeviceGetPCIBusId(char *text, int n, int device) {
    SIMT_ENTER();
    snprintf(text, (size_t)n, "0000:00:00.0");
    return only(device);
}
cudaError_t simt_cudaDeviceSetLimit(cudaLimit limit, size_t value) {
    SIMT_ENTER();
    if ((unsigned)limit >= sizeof limits / sizeof *limits) return failed(cudaErrorInvalidValue);
    limits[limit] = value;
    return cudaSuccess;
}
cudaError_t simt_cudaDeviceGetLimit(size_t *value, cudaLimit limit) {
    SIMT_ENTER();
    if ((unsigned)limit >= sizeof limits / sizeof *limits) return failed(cudaErrorInvalidValue);
    *value = limits[limit];
    return cudaSuccess;
}
cudaError_t simt_cudaStreamSetAttribute(cudaStream_t s, cudaStreamAttrID id,
                                        const cudaStreamAttrValue *value) {
    SIMT_ENTER();
    Stream *stream = streamOf(s);
    if (!stream) return failed(cudaErrorInvalidResourceHandle);
    attributes[{stream, id}] = *value;
    return cudaSuccess;
}
cudaError_t simt_cudaStreamGetAttribute(cudaStream_t s, cudaStreamAttrID id,
                                        cudaStreamAttrValue *value) {
    SIMT_ENTER();
    Stream *stream = streamOf(s);
    if (!stream) return failed(cudaErrorInvalidResourceHandle);
    *value = attributes[{stream, id}];
    return cudaSuccess;
}
cudaError_t simt_cudaCtxResetPersistingL2Cache() {
    SIMT_ENTER();
    return cudaSuccess;
}
cudaError_t simt_cudaDeviceSetCacheConfig(cudaFuncCache) {
    SIMT_ENTER();
    return cudaSuccess;
}
cudaError_t simt_cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) {
    SIMT_ENTER();
    return cudaSuccess;
}
cudaError_t simt_cudaDeviceCanAccessPeer(int *can, int a, int b) {
    SIMT_ENTER();
    *can = 0;
    return a || b ? failed(cudaErrorInvalidDevice) : cudaSuccess;
}
cudaError_t simt_cudaDeviceEnablePeerAccess(int, unsigned) {
    SIMT_ENTER();
    return failed(cudaErrorInvalidDevice);
}
cudaError_t simt_cudaDeviceDisablePeerAccess(int) {
    SIMT_ENTER();
    return failed(cudaErrorPeerAccessNotEnabled);
}
cudaError_t simt_cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
    SIMT_ENTER();
    *least = 0;
    *greatest = -5;
    return cudaSuccess;
}
cudaError_t simt_cudaDriverGetVersion(int *version) {
    SIMT_ENTER();
    *version = 12000;
    return cudaSuccess;
}
cudaError_t simt_cudaRuntimeGetVersion(int *version) {
    SIMT_ENTER();
    *version = 12000;
    return cudaSuccess;
}
cudaError_t simt_cudaProfilerStart() {
    return cudaSuccess;
}
cudaError_t simt_cudaProfilerStop() {
    return cudaSuccess;
}
cudaError_t simt_cudaDeviceReset() {
    std::lock_guard<std::recursive_mutex> hold(lock);
    waitForAll();
    settle();
    forgetErrors();
    attributes.clear();
    forgetStreams();
    freeAll();
    return cudaSuccess;
}
cudaError_t simt_cudaThreadExit() {
    return simt_cudaDeviceReset();
}
}
