// overtaken.cpp - see overtaken.h. Such a load counts once more behind the arrival, with what its
// thread tells at the next one: who knows of this arrival alone does not know that it is done.
// fence.proxy.async before the arrival waits for it.
#include "overtaken.h"

#include "access.h"

namespace simt {

namespace {
constexpr size_t most = 256; // of a thread: the next ones are taken for used

void lateRead(Addr a, unsigned n, Addr pc) {
    Worker *w = worker;
    if (!w || !(w->checks & RACE) || !w->shared->holds(a)) return;
    std::vector<LateRead> &late = w->current->late;
    if (!late.empty() && late.back().epoch != w->epoch) late.clear();
    if (late.size() < most) late.push_back({a, pc, n, w->epoch});
}
} // namespace

void readLate(Worker *w) {
    for (const LateRead &l : w->current->late)
        if (l.epoch == w->epoch) recordRace(w, w->shared, l.a, l.n, READ, l.pc);
    w->current->late.clear();
}

} // namespace simt

#define CALLER ((simt::Addr)__builtin_return_address(0))
#define LATE(n)                                                                                    \
    void simt_late_read##n(void *p) {                                                              \
        simt::access<n, simt::READ>((simt::Addr)p, CALLER);                                        \
        simt::lateRead((simt::Addr)p, n, CALLER);                                                  \
    }

extern "C" {
LATE(1)
LATE(2)
LATE(4)
LATE(8)
LATE(16)
}
