// shape.cpp - what a launch may ask for: the kernel's own wishes, and everybody's limits.
#include <algorithm>

#include "runtime.h"

namespace simt {

// withOwn fills in the cluster that the kernel itself asks for.
LaunchShape withOwn(const KernelEntry *k, LaunchShape s) {
    const unsigned *own = k->cluster;
    if (!s.cluster.x && own[0]) s.cluster = {own[0], std::max(1u, own[1]), std::max(1u, own[2])};
    return s;
}

bool possible(Module *m, const KernelEntry *k, const LaunchShape &s, std::string *error) {
    uint64_t threads = (uint64_t)s.block.x * s.block.y * s.block.z;
    uint64_t blocks = (uint64_t)s.grid.x * s.grid.y * s.grid.z;
    if (threads < 1 || threads > maxThreads || s.dynamicBytes > maxShared || blocks > noBlock / 2) {
        *error = "the launch's shape is beyond the device's limits";
        return false;
    }
    if (k->bounds[0] && threads > k->bounds[0]) {
        *error = "a block of " + std::to_string(threads) + " threads: the kernel's " +
                 "__launch_bounds__ allow " + std::to_string(k->bounds[0]);
        return false;
    }
    size_t fixed = staticShared(m, k);
    if (size_t own = ownShared(m, k); own > maxStatic) { // nvcc refuses to compile it
        *error = "its static __shared__ arrays take " + std::to_string(own) +
                 " bytes in all: CUDA allows " + std::to_string(maxStatic) +
                 "; make them extern __shared__, and give their size at launch";
        return false;
    }
    if (fixed + s.dynamicBytes > maxShared) {
        *error = std::to_string(fixed) + " bytes of static and " + std::to_string(s.dynamicBytes) +
                 " of dynamic shared memory are more than the " + std::to_string(maxShared) +
                 " that a block may have";
        return false;
    }
    return true;
}

} // namespace simt
