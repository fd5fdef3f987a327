// hosterrors.cpp - CUDA's error codes: the last one, and the one that stays. A kernel's fault is
// told at the next synchronisation, and by every call from then on.
#include "host.h"

namespace simt::program {

namespace {
cudaError_t lastError, fault, sticky;
Site launchSite; // of a launch that was refused and of whose error nobody has asked yet
cudaError_t launchError;
} // namespace

cudaError_t failed(cudaError_t e) {
    if (e) lastError = e;
    return e;
}

void launchFailed(cudaError_t e) {
    failed(e);
    launchSite = here();
    launchError = e;
}

void launchAsked() {
    launchError = cudaSuccess;
}

void faulted(cudaError_t e) {
    if (!fault) fault = e;
}

cudaError_t settle() {
    if (fault) sticky = fault;
    showPrints();
    sendNews();
    return failed(sticky);
}

cudaError_t enter() {
    return failed(sticky);
}

void forgetErrors() {
    lastError = fault = sticky = cudaSuccess;
}

void notesOnErrors() {
    if (launchError)
        note(launchSite, "unchecked error",
             std::string("this launch was refused (") + cudaGetErrorName(launchError) + ", " +
                 cudaGetErrorString(launchError) + "), and nothing asked for the error",
             "a launch returns nothing: ask cudaGetLastError() after it");
    else if (fault && !sticky)
        note({}, "unchecked error",
             std::string("a kernel was stopped, and the program ended without a synchronisation "
                         "that would have said so"),
             "call cudaDeviceSynchronize() before the end, and look at what it returns");
}

void refuseInKernel() {
    simt_trap("a kernel calls CUDA's runtime or launches a kernel: dynamic parallelism is not "
              "served",
              here().line);
}

} // namespace simt::program

extern "C" {
using namespace simt::program;

const char *cudaGetErrorString(cudaError_t e) {
    switch (e) {
#define SIMT_TEXT(name, number, text)                                                              \
    case name:                                                                                     \
        return text;
        SIMT_ERRORS(SIMT_TEXT)
    }
    return "unrecognized error code";
}

const char *cudaGetErrorName(cudaError_t e) {
    switch (e) {
#define SIMT_NAME(name, number, text)                                                              \
    case name:                                                                                     \
        return #name;
        SIMT_ERRORS(SIMT_NAME)
    }
    return "unrecognized error code";
}

cudaError_t simt_cudaGetLastError() {
    std::lock_guard<std::recursive_mutex> hold(lock);
    cudaError_t e = sticky ? sticky : lastError;
    lastError = launchError = cudaSuccess;
    return e;
}

cudaError_t simt_cudaPeekAtLastError() {
    std::lock_guard<std::recursive_mutex> hold(lock);
    launchError = cudaSuccess;
    return sticky ? sticky : lastError;
}
}
