// hostlaunch.cpp - launches: checked as CUDA checks them, and run.
#include <algorithm>
#include <cstring>

#include "host.h"
#include "message.h"
#include "prints.h"

namespace simt::program {

namespace {
std::map<const KernelEntry *, size_t> mostShared; // cudaFuncAttributeMaxDynamicSharedMemorySize

struct Configuration {
    bool set = false;
    simt::LaunchShape shape{};
    cudaStream_t stream = nullptr;
};
thread_local Configuration next;
std::string printed;

cudaError_t refused(const char *kind, cudaError_t e, const std::string &why) {
    note(here(), kind, why);
    launchFailed(e);
    return e;
}

// allowed checks what CUDA does before a kernel runs.
cudaError_t allowed(const KernelEntry *k, const LaunchShape &s) {
    uint64_t threads = (uint64_t)s.block.x * s.block.y * s.block.z;
    std::string who = std::string(k->name) + ": ";
    const char *kind = "refused launch";
    if (!threads || !s.grid.x || !s.grid.y || !s.grid.z)
        return refused(kind, cudaErrorInvalidConfiguration, who + "a grid or a block of nothing");
    if (threads > 1024 || s.block.x > 1024 || s.block.y > 1024 || s.block.z > 64)
        return refused(kind, cudaErrorInvalidConfiguration,
                       who + "a block of " + std::to_string(threads) +
                           " threads: at most 1024 in all, and 64 along z");
    if (s.grid.x > 0x7fffffff || s.grid.y > 65535 || s.grid.z > 65535)
        return refused(kind, cudaErrorInvalidConfiguration,
                       who + "a grid has at most 65535 blocks along y and z");
    auto most = mostShared.find(k);
    size_t fixed = staticShared(module, k);
    size_t limit = std::max(maxStatic, most == mostShared.end() ? 0 : most->second + fixed);
    if (fixed + s.dynamicBytes > limit)
        return refused(kind, cudaErrorInvalidValue,
                       who + std::to_string(fixed + s.dynamicBytes) +
                           " bytes of shared memory: more than 49152 need cudaFuncSetAttribute("
                           "kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes) first");
    if (k->bounds[0] && threads > k->bounds[0])
        return refused(kind, cudaErrorLaunchOutOfResources,
                       who + "a block of " + std::to_string(threads) +
                           " threads, and its __launch_bounds__ allow " +
                           std::to_string(k->bounds[0]));
    return cudaSuccess;
}

cudaError_t codeOf(const Finding &f) {
    if (f.kind == "misaligned") return cudaErrorMisalignedAddress;
    if (f.kind == "trap" && f.text.rfind("assertion failed", 0) == 0) return cudaErrorAssert;
    if (f.kind == "trap") return cudaErrorLaunchFailure;
    if (f.check == "limits" || f.kind == "deadlock") return cudaErrorLaunchTimeout;
    if (f.check == "memcheck") return cudaErrorIllegalAddress;
    return cudaErrorLaunchFailure;
}

// Each array that the host reaches too, and to which an argument points, and what it held before.
struct Reached {
    Array *array;
    uint64_t before;
};

uint64_t hashOf(const Array &a) {
    uint64_t h = a.bytes, word;
    for (uint64_t i = 0; i < a.bytes; i += sizeof word) {
        word = 0;
        memcpy(&word, (const char *)a.at + i, std::min<uint64_t>(sizeof word, a.bytes - i));
        h = (h ^ word) * 0x9e3779b97f4a7c15 + (h >> 29);
    }
    return h;
}

std::vector<Reached> reachedBy(const KernelEntry *k, void **args) {
    std::vector<Reached> all;
    for (int i = 0; i < k->count; i++)
        for (int at = 0; at + 8 <= k->sizes[i]; at += 8) {
            Addr p;
            memcpy(&p, (const char *)args[i] + at, sizeof p);
            Array *a = arena.holds(p) ? arrayAt(p) : nullptr;
            if (!a || a->freed || (a->kind != Kind::Managed && a->kind != Kind::Pinned)) continue;
            if (std::none_of(all.begin(), all.end(), [&](auto &r) { return r.array == a; }))
                all.push_back({a, hashOf(*a)});
        }
    return all;
}

// hostArguments names the arguments that point to memory of the host's.
std::string hostArguments(const KernelEntry *k, void **args) {
    std::string all;
    for (int i = 0; i < k->count; i++) {
        if (k->kinds[i] != 'p') continue;
        Addr p = *(const Addr *)args[i];
        if (p < 4096 || arena.holds(p) || (p >= module->base && p < module->end)) continue;
        all += (all.empty() ? "" : ", ") + std::to_string(i + 1);
    }
    return all;
}

void keepPrinted() {
    std::string body = takePrints();
    Reader r{body.data(), body.data() + body.size()};
    bool cut = r.number();
    for (uint64_t n = r.number(); n > 0 && r.ok; n--) {
        r.text();
        r.triple();
        r.triple();
        printed += r.text();
    }
    if (cut)
        note(here(), "printf",
             "the kernel printed more than CUDA's buffer of 1 MB holds: the rest "
             "is lost");
}

cudaError_t run(const KernelEntry *k, const LaunchShape &s, Stream *stream, void **args) {
    if (cudaError_t e = allowed(k, s)) return e;
    refreshAll();
    issue(stream);
    auto reached = reachedBy(k, args);
    std::string hosts = hostArguments(k, args), error;
    LaunchResult result;
    onDevice([&] {
        startTimer(options.timeout);
        result = simt::launch(module, k, s, args, &error);
        stopTimer();
    });
    keepPrinted();
    for (auto &r : reached)
        leaves(stream, r.array->at, r.array->at + r.array->bytes, hashOf(*r.array) != r.before,
               "the kernel");
    if (result == LaunchResult::Refused)
        return refused("refused launch",
                       s.cooperative ? cudaErrorCooperativeLaunchTooLarge : cudaErrorInvalidValue,
                       std::string(k->name) + ": " + error);
    if (result == LaunchResult::Stopped) {
        if (!hosts.empty() && stoppedBy().place.space == "none")
            told("host memory on the device",
                 std::string(k->name) + " was given memory of the host's: argument " + hosts,
                 "a kernel takes what cudaMalloc or cudaMallocManaged gave");
        faulted(codeOf(stoppedBy()));
    }
    return cudaSuccess;
}
} // namespace

void showPrints() {
    if (printed.empty()) return;
    fwrite(printed.data(), 1, printed.size(), stdout);
    printed.clear();
}

void notesOnPrints() {
    if (!printed.empty())
        note({}, "printf",
             "kernels printed, and the program ended without a synchronisation: on a GPU that may "
             "never be seen, and it is not shown here",
             "call cudaDeviceSynchronize() before the end");
}

} // namespace simt::program

extern "C" {
using namespace simt::program;

int simt_on_host() {
    return !simt::worker;
}

void simt_configure(const unsigned *grid, const unsigned *block, size_t shared, cudaStream_t s) {
    if (simt::worker) refuseInKernel();
    next = Configuration{};
    next.set = true;
    next.shape.grid = {grid[0], grid[1], grid[2]};
    next.shape.block = {block[0], block[1], block[2]};
    next.shape.dynamicBytes = shared;
    next.stream = s;
}

void simt_start(const simt_kernel_info *info, void **args) {
    std::lock_guard<std::recursive_mutex> hold(lock);
    Configuration c = next;
    next = Configuration{};
    if (enter()) return;
    const simt::KernelEntry *k = kernelOf(info);
    Stream *stream = streamOf(c.stream);
    if (!c.set) return launchFailed(cudaErrorMissingConfiguration);
    if (!k) return launchFailed(cudaErrorInvalidDeviceFunction);
    if (!stream) return launchFailed(cudaErrorInvalidResourceHandle);
    args[info->count] = k->address;
    run(k, c.shape, stream, args);
}

cudaError_t simt_cudaLaunchAny(const void *f, const unsigned *grid, const unsigned *block,
                               void **args, size_t shared, cudaStream_t s, bool cooperative) {
    SIMT_ENTER();
    const simt::KernelEntry *k = kernelAt(f);
    Stream *stream = streamOf(s);
    if (!k) return failed(cudaErrorInvalidDeviceFunction);
    if (!stream) return failed(cudaErrorInvalidResourceHandle);
    std::vector<void *> all(args, args + (args ? k->count : 0));
    all.push_back(k->address);
    simt::LaunchShape shape{};
    shape.grid = {grid[0], grid[1], grid[2]};
    shape.block = {block[0], block[1], block[2]};
    shape.dynamicBytes = shared;
    shape.cooperative = cooperative;
    cudaError_t e = run(k, shape, stream, all.data());
    launchAsked();
    return e;
}

cudaError_t simt_cudaFuncSetAttributeOf(const void *f, cudaFuncAttribute a, int value) {
    SIMT_ENTER();
    const simt::KernelEntry *k = kernelAt(f);
    if (!k) return failed(cudaErrorInvalidDeviceFunction);
    if (a != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;
    if (value < 0 || value + simt::staticShared(module, k) > simt::maxShared)
        return failed(cudaErrorInvalidValue);
    mostShared[k] = (size_t)value;
    return cudaSuccess;
}

cudaError_t simt_cudaFuncGetAttributesOf(cudaFuncAttributes *a, const void *f) {
    SIMT_ENTER();
    const simt::KernelEntry *k = kernelAt(f);
    if (!k) return failed(cudaErrorInvalidDeviceFunction);
    *a = {};
    a->sharedSizeBytes = simt::staticShared(module, k);
    a->maxThreadsPerBlock = k->bounds[0] ? (int)k->bounds[0] : 1024;
    a->numRegs = 32; // not known: nothing was compiled for a GPU
    a->ptxVersion = a->binaryVersion = 90;
    auto most = mostShared.find(k);
    a->maxDynamicSharedSizeBytes =
        (int)(most == mostShared.end() ? simt::maxStatic - a->sharedSizeBytes : most->second);
    return cudaSuccess;
}

// As many blocks as threads, shared memory and the processor's places for blocks allow; registers
// are not known.
cudaError_t simt_cudaOccupancyOf(int *blocks, const void *f, int threads, size_t shared) {
    SIMT_ENTER();
    const simt::KernelEntry *k = kernelAt(f);
    if (!k) return failed(cudaErrorInvalidDeviceFunction);
    if (threads < 1) return failed(cudaErrorInvalidValue);
    const cudaDeviceProp &p = properties();
    size_t each = simt::staticShared(module, k) + shared + p.reservedSharedMemPerBlock;
    int warps = (threads + 31) / 32;
    *blocks =
        threads > 1024 || (k->bounds[0] && (unsigned)threads > k->bounds[0])
            ? 0
            : std::min({p.maxThreadsPerMultiProcessor / 32 / warps, p.maxBlocksPerMultiProcessor,
                        (int)(p.sharedMemPerMultiprocessor / each)});
    return cudaSuccess;
}
}
