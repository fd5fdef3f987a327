// hostwatch.cpp - what the host's code touches: the compiler has it call a hook before every
// access.
#include <signal.h>

#include "host.h"

namespace simt::program {

namespace {
std::string sized(uint64_t bytes) {
    return std::to_string(bytes) + " bytes";
}
} // namespace

// watchHost is called at every access of the host's code.
void watchHost(Addr a, size_t n, Op op, Addr pc) {
    if (LIKELY(!arena.holds(a))) {
        if (LIKELY(!module || !module->data.holds(a) || !module->data.state)) return;
        const Symbol *s = variableAt(a);
        if (!s || isManaged(s->name)) return;
        std::lock_guard<std::recursive_mutex> hold(lock);
        toldAt({}, pc, "device memory on the host",
               std::string("the host's code ") + (op == READ ? "reads" : "writes") +
                   " the device variable '" + s->name + "': it gets the host's own copy of it",
               "cudaMemcpyToSymbol and cudaMemcpyFromSymbol move it");
        return;
    }
    std::lock_guard<std::recursive_mutex> hold(lock);
    Array *in = arrayAt(a);
    if (!in) return;
    std::string verb = op == READ ? "reads" : "writes";
    std::string where =
        "'" + in->name + "[" + std::to_string((a - in->at) / (n ? n : 1)) + "]' (" + sized(n) + ")";
    if (in->freed) {
        toldAt({}, pc, "use after free",
               "the host's code " + verb + " " + where + ", which was freed");
        return;
    }
    if (in->kind == Kind::Device) {
        toldAt({}, pc, "device memory on the host",
               "the host's code " + verb + " device memory: " + where +
                   ". On a GPU's machine this is a segmentation fault",
               "copy it with cudaMemcpy, or allocate it with cudaMallocManaged", true);
        die(SIGSEGV);
    }
    if (a + n > in->at + in->bytes) {
        toldAt({}, pc, "out of bounds",
               "the host's code " + verb + " beyond the end of '" + in->name + "' of " +
                   sized(in->bytes));
        return;
    }
    if (UNLIKELY(pendingUses)) checkPending(a, n, op, pc);
    if (op != READ) setState(a, n, true);
}

void watchFree(void *p, Addr pc) {
    if (!arena.holds((Addr)p)) return;
    std::lock_guard<std::recursive_mutex> hold(lock);
    Array *a = arrayAt((Addr)p);
    toldAt({}, pc, "bad free",
           "free() or delete of " + (a ? std::string(nameOf(a->kind)) + " memory '" + a->name + "'"
                                       : std::string("device memory")),
           a && a->kind == Kind::Pinned ? "cudaFreeHost frees it" : "cudaFree frees it");
    die(SIGABRT);
}

} // namespace simt::program
