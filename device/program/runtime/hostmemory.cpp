// hostmemory.cpp - CUDA's allocations: of device memory, of managed memory and of pinned memory of
// the host's. All three are in the simulator's device memory. What the host's code touches of it is
// looked at here.
#include <algorithm>

#include "host.h"

namespace simt::program {

namespace {
std::map<Addr, Array> arrays; // freed ones, too, as long as their addresses are nobody else's

std::string sized(uint64_t bytes) {
    return std::to_string(bytes) + " bytes";
}

cudaError_t take(void **p, uint64_t bytes, Kind kind) {
    if (!p) return failed(cudaErrorInvalidValue);
    if (!bytes) {
        *p = nullptr;
        return cudaSuccess;
    }
    Array a;
    a.bytes = bytes, a.kind = kind, a.site = here(), a.name = wordAt(a.site);
    if (a.name.empty()) a.name = "the array of line " + std::to_string(a.site.line);
    std::string error;
    Addr at;
    if (!allocate(bytes, a.name, &at, &error)) {
        note(a.site, "out of memory",
             "'" + a.name + "' of " + sized(bytes) + " does not fit into the " +
                 std::to_string(options.memory >> 20) + " MB that the simulator gives: " + error,
             "flashlab-run -memory takes more, in MB");
        return failed(cudaErrorMemoryAllocation);
    }
    // What lies at these addresses now was freed long ago.
    auto from = arrays.lower_bound(at), to = arrays.lower_bound(at + bytes);
    arrays.erase(from, to);
    a.at = at;
    arrays[at] = a;
    *p = (void *)at;
    return cudaSuccess;
}

cudaError_t give(void *p, bool pinned, const char *call) {
    if (!p) return cudaSuccess;
    Addr at = (Addr)p;
    auto it = arrays.find(at);
    if (it == arrays.end()) {
        Array in = memoryAt(p);
        told("bad free",
             std::string(call) + " of an address that it did not get from CUDA: " +
                 (in.kind == Kind::Host ? "it is memory of the host's"
                                        : "it is within '" + in.name + "', and not its beginning"),
             in.kind == Kind::Host ? "what malloc or new gave goes to free or delete" : "");
        return failed(cudaErrorInvalidValue);
    }
    Array &a = it->second;
    if (a.freed) {
        told("bad free", std::string(call) + ": '" + a.name + "' was freed before");
        return failed(cudaErrorInvalidValue);
    }
    if ((a.kind == Kind::Pinned) != pinned) {
        told("bad free", std::string(call) + ": '" + a.name + "' is " + nameOf(a.kind) + " memory",
             pinned ? "cudaFree frees it" : "cudaFreeHost frees it");
        return failed(cudaErrorInvalidValue);
    }
    waitForAll(); // as CUDA does
    std::string error;
    release(at, &error);
    a.freed = true;
    return settle();
}
} // namespace

const Symbol *variableAt(Addr a) {
    if (!module || !module->data.holds(a)) return nullptr;
    for (auto &s : module->symbols)
        if (!s.shared && a >= s.lo && a < s.hi && s.owner.find('(') == std::string::npos &&
            isVariable(s.name, s.owner))
            return &s;
    return nullptr;
}

bool isManaged(const std::string &name) {
    auto &all = options.managed;
    return std::find(all.begin(), all.end(), name) != all.end();
}

const char *nameOf(Kind k) {
    switch (k) {
    case Kind::Device:
        return "device";
    case Kind::Managed:
        return "managed";
    case Kind::Pinned:
        return "pinned host";
    case Kind::Variable:
        return "__device__";
    case Kind::Host:
        break;
    }
    return "host";
}

Array *arrayAt(Addr a) {
    auto it = arrays.upper_bound(a);
    if (it == arrays.begin()) return nullptr;
    --it;
    return a - it->first <= it->second.bytes ? &it->second : nullptr;
}

Array memoryAt(const void *p) {
    Addr at = (Addr)p;
    Array none;
    none.at = at;
    if (const Symbol *s = variableAt(at)) {
        none.at = s->lo;
        none.bytes = s->hi - s->lo;
        none.kind = Kind::Variable;
        none.name = s->name;
        return none;
    }
    if (!arena.holds(at)) return none;
    if (Array *a = arrayAt(at)) return *a;
    none.kind = Kind::Device;
    return none;
}

bool isVariable(const std::string &name, const std::string &owner) {
    if (owner.find('(') != std::string::npos) return true; // of a function: perhaps a kernel's
    for (auto *all : {&options.variables, &options.constants, &options.managed})
        if (std::find(all->begin(), all->end(), name) != all->end()) return true;
    return false;
}

// refresh: the C library writes without a hook. Where any byte is no longer what it was at first,
// all of the array counts as written.
void refresh(Array *a) {
    if (a->known || a->freed || (a->kind != Kind::Managed && a->kind != Kind::Pinned)) return;
    const uint8_t *state = arena.state + (a->at - arena.lo);
    const auto *bytes = (const uint8_t *)a->at;
    for (uint64_t i = 0; i < a->bytes; i++)
        if (bytes[i] != 0xff && !(state[i] & INITIALISED)) {
            a->known = true;
            setState(a->at, a->bytes, true);
            return;
        }
}

void refreshAll() {
    for (auto &[at, a] : arrays) refresh(&a);
}

void notesOnLeaks(bool reset) {
    uint64_t count = 0, bytes = 0;
    const Array *first = nullptr;
    for (auto &[at, a] : arrays) {
        if (a.freed) continue;
        count++;
        bytes += a.bytes;
        if (!first || a.site.line < first->site.line) first = &a;
    }
    if (!count || reset) return;
    note(first->site, "leak",
         std::to_string(count) + (count == 1 ? " allocation" : " allocations") + " of " +
             sized(bytes) + " in all not freed at the end, '" + first->name + "' among them",
         "the system takes it back, so this matters in a library or a loop");
}

void freeAll() {
    releaseAll();
    arrays.clear();
}

} // namespace simt::program

extern "C" {
using namespace simt::program;

cudaError_t simt_cudaMalloc(void **p, size_t bytes) {
    SIMT_ENTER();
    return take(p, bytes, Kind::Device);
}
cudaError_t simt_cudaMallocAsync(void **p, size_t bytes, cudaStream_t) {
    SIMT_ENTER();
    return take(p, bytes, Kind::Device);
}
cudaError_t simt_cudaMallocPitch(void **p, size_t *pitch, size_t width, size_t height) {
    SIMT_ENTER();
    if (!pitch) return failed(cudaErrorInvalidValue);
    *pitch = (width + 511) / 512 * 512;
    return take(p, *pitch * height, Kind::Device);
}
cudaError_t simt_cudaMallocManaged(void **p, size_t bytes, unsigned) {
    SIMT_ENTER();
    if (!bytes) return failed(cudaErrorInvalidValue);
    return take(p, bytes, Kind::Managed);
}
cudaError_t simt_cudaMallocHost(void **p, size_t bytes, unsigned) {
    SIMT_ENTER();
    return take(p, bytes, Kind::Pinned);
}
cudaError_t simt_cudaHostAlloc(void **p, size_t bytes, unsigned) {
    SIMT_ENTER();
    return take(p, bytes, Kind::Pinned);
}
cudaError_t simt_cudaFree(void *p) {
    SIMT_ENTER();
    return give(p, false, "cudaFree");
}
cudaError_t simt_cudaFreeAsync(void *p, cudaStream_t) {
    SIMT_ENTER();
    return give(p, false, "cudaFreeAsync");
}
cudaError_t simt_cudaFreeHost(void *p) {
    SIMT_ENTER();
    return give(p, true, "cudaFreeHost");
}

// Pageable memory that is registered is pinned, and no more: kernels do not reach it here.
cudaError_t simt_cudaHostRegister(void *p, size_t bytes, unsigned) {
    SIMT_ENTER();
    return p && bytes ? cudaSuccess : failed(cudaErrorInvalidValue);
}
cudaError_t simt_cudaHostUnregister(void *p) {
    SIMT_ENTER();
    return p ? cudaSuccess : failed(cudaErrorInvalidValue);
}
cudaError_t simt_cudaHostGetDevicePointer(void **device, void *p, unsigned) {
    SIMT_ENTER();
    Array a = memoryAt(p);
    if (a.kind == Kind::Pinned || a.kind == Kind::Managed) {
        *device = p;
        return cudaSuccess;
    }
    told("not served", "kernels cannot reach memory that was registered with cudaHostRegister here",
         "cudaHostAlloc gives memory that they reach");
    return failed(cudaErrorNotSupported);
}
cudaError_t simt_cudaHostGetFlags(unsigned *flags, void *) {
    SIMT_ENTER();
    *flags = cudaHostAllocMapped;
    return cudaSuccess;
}
cudaError_t simt_cudaMemGetInfo(size_t *free, size_t *total) {
    SIMT_ENTER();
    uint64_t used = 0;
    for (auto &[at, a] : arrays)
        if (!a.freed) used += a.bytes;
    *total = options.memory;
    *free = options.memory - used;
    return cudaSuccess;
}
cudaError_t simt_cudaPointerGetAttributes(cudaPointerAttributes *out, const void *p) {
    SIMT_ENTER();
    Array a = memoryAt(p);
    *out = {};
    if (a.kind == Kind::Host || a.freed) {
        out->hostPointer = (void *)p;
        out->device = -2;
        return cudaSuccess;
    }
    out->type = a.kind == Kind::Pinned    ? cudaMemoryTypeHost
                : a.kind == Kind::Managed ? cudaMemoryTypeManaged
                                          : cudaMemoryTypeDevice;
    out->devicePointer = (void *)p;
    if (out->type != cudaMemoryTypeDevice) out->hostPointer = (void *)p;
    return cudaSuccess;
}
}
