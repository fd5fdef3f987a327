// spaces.cpp - what a kernel may ask about an address (include/simt/memory.h).
#include "hopper.h"

using namespace simt;

extern "C" {

long long simt_shared_offset(const void *p) {
    Worker *w = worker;
    return w->shared->holds((Addr)p) ? (long long)((Addr)p - windowOf(w)) : -1;
}

void *simt_shared_address(unsigned long long offset) {
    return (void *)(windowOf(worker) + offset);
}

int simt_space(const void *p) {
    Worker *w = worker;
    Addr a = (Addr)p;
    if (w->shared->holds(a)) return 1;
    if (arena.holds(a)) return 2;
    if (w->module->data.holds(a)) return 3;
    return a - (Addr)w->current->stack < stackSize ? 4 : 0;
}
}
