// spaces.cpp - what a kernel may ask about an address (include/simt/memory.h).
#include "cluster.h"

using namespace simt;

extern "C" int simt_space(const void *p) {
    Worker *w = worker;
    Addr a = (Addr)p;
    if (w->shared->holds(a)) return 1;
    if (neighbourAt(w, a)) return 5;
    if (arena.holds(a)) return 2;
    if (w->module->data.holds(a)) return 3;
    return a - (Addr)w->current->stack < stackSize ? 4 : 0;
}
