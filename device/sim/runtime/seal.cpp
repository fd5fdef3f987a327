// seal.cpp - a kernel shares an address space with what checks it. No store of its own gets there
// unchecked, as far as we know. Should one, then what the checks go by is no longer what it was, or
// findings are gone: the launch proves nothing, and its case waits for a person.
//
// What is compared with lies in a page that nobody can write to while kernels run.
#include "seal.h"

#include <sys/mman.h>

#include <mutex>

#include "runtime.h"
#include "tables.h"

namespace simt {

namespace {
struct Sealed {
    uint64_t state, findings;
};
union alignas(guardSize) Page {
    Sealed sealed;
    char whole[guardSize];
};
Page page;
std::mutex sealing;

template <class F> void change(F how) {
    std::lock_guard<std::mutex> hold(sealing);
    mprotect(&page, sizeof page, PROT_READ | PROT_WRITE);
    how(page.sealed);
    mprotect(&page, sizeof page, PROT_READ);
}

// What stays the same from a launch's beginning to its end.
uint64_t stateNow() {
    uint64_t h = 14695981039346656037u;
    auto add = [&](auto v) { h = (h ^ (uint64_t)v) * 1099511628211u; };
    add(keptFindings());
    add(arena.lo), add(arena.hi), add(arena.state);
    for (Worker *w : workers) {
        const Region &r = w->arena;
        add(w), add(w->checks), add(w->readNeeds), add(w->writeNeeds);
        add(r.lo), add(r.hi), add(r.state), add(r.settled), add(r.cells), add(r.between);
        add(w->fibers), add(w->warps), add(w->traffic), add(w->told), add(w->queue);
    }
    return h;
}

uint64_t foundNow() {
    uint64_t n = 0;
    for (Worker *w : workers) n += w->found.size();
    return n;
}
} // namespace

void sealState() {
    uint64_t now = stateNow(), before = foundNow();
    change([&](Sealed &s) { s = {now, before}; });
}

void sealFinding() {
    change([](Sealed &s) { s.findings++; });
}

void compareState() {
    if (stateNow() != page.sealed.state || foundNow() != page.sealed.findings)
        overfull(workers[0], Table::Altered);
}

} // namespace simt
