// onhost.h - what a whole program adds (device/program): its own host code runs in this process,
// too, on threads that are no worker's. Without one these are null.
#pragma once
#include <cstddef>
#include <string>

#include "shadow.h"

namespace simt {

struct KernelEntry;

// onHost is told of an access of the host's.
extern void (*onHost)(Addr a, size_t n, Op op, Addr pc);
// onHostFault comes before a fault of the host's ends the process.
extern void (*onHostFault)(int signal, Addr pc, Addr at);
// onHostFree is told what the host's code is about to free.
extern void (*onHostFree)(void *p, Addr pc);
// ofDevice tells whether a module's variable is the device's, and not its host code's.
extern bool (*ofDevice)(const std::string &name, const std::string &owner);
// kernelsOf finds the kernels of a module that has no table of them.
extern const KernelEntry *(*kernelsOf)(void *handle, Addr base, const std::string &path);

} // namespace simt
