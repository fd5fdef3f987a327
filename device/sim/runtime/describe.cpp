// describe.cpp - which array or variable an address is in, or nearest to.
#include <algorithm>
#include <cstdio>

#include "cluster.h"

namespace simt {

// How far beside a module's memory an address still counts as an index into it.
constexpr Addr beside = 64 << 10;

static bool isDynamic(const Module *m, const Symbol &s) {
    return s.shared && s.lo == m->dynamicAt && s.name != "simt_dynamic_shared";
}

static bool nearTo(const Region &r, Addr a) {
    return a - (r.lo - beside) < r.hi - r.lo + 2 * beside;
}

// nearestOf is the variable that an address is in or lies behind; or else the first, which it comes
// before.
template <class Taken>
static const Symbol *nearestOf(const Module *m, Addr at, const Taken &taken) {
    auto behind = [at](const Symbol *s) { return (int64_t)(at - s->lo) >= 0; };
    const Symbol *best = nullptr;
    for (const Symbol &s : m->symbols) {
        if (!taken(s)) continue;
        if (!best || (behind(&s) != behind(best) ? behind(&s) : behind(&s) == (s.lo > best->lo)))
            best = &s;
    }
    return best;
}

static void placeIn(Place *p, const Symbol *s, Addr at) {
    if (!s) return;
    p->name = s->name;
    p->offset = (int64_t)(at - s->lo);
    p->size = s->hi - s->lo;
}

// describeDynamic: several such arrays of a module begin at one place; explain.go knows whose is
// which.
static void describeDynamic(Worker *w, Addr at, Place *p) {
    p->dynamic = true;
    p->offset = (int64_t)(at - w->module->dynamicAt);
    p->size = w->dynamicBytes;
    int names = 0;
    for (auto &s : w->module->symbols)
        if (isDynamic(w->module, s) && ++names == 1) p->name = s.name;
    if (names != 1) p->name = "dynamic shared memory";
}

static Place describeShared(Worker *w, Addr a) {
    Place p;
    p.space = "shared";
    const Module *m = w->module;
    Addr at = a - w->shared->lo;
    const Symbol *s =
        nearestOf(m, at, [&](const Symbol &x) { return takesShared(w->module, w->kernel, x); });
    bool dynamic = w->dynamicBytes || std::any_of(m->symbols.begin(), m->symbols.end(),
                                                  [&](auto &x) { return isDynamic(m, x); });
    if (dynamic && (!s || (int64_t)(at - m->dynamicAt) >= 0)) {
        describeDynamic(w, at, &p);
        return p;
    }
    placeIn(&p, s, at);
    if (s)
        p.owner = s->owner;
    else
        p.note = "shared memory that this kernel does not have";
    return p;
}

// describeVariables is false of a module without any.
static bool describeVariables(const Module *m, Addr a, Place *p) {
    p->space = "module";
    placeIn(p, nearestOf(m, a, [](const Symbol &x) { return !x.shared; }), a);
    return !p->name.empty();
}

Place describe(Worker *w, Addr a) {
    Place p;
    if (w && w->shared && w->shared->holds(a)) return describeShared(w, a);
    if (Worker *o = w ? neighbourAt(w, a) : nullptr) {
        p = describeShared(o, a);
        p.note = "of block " + std::to_string(o->rank) + " of the cluster";
        return p;
    }
    if (arena.holds(a)) {
        if (!describeHeap(a, &p)) describeAllocation(w, a, &p);
        return p;
    }
    // The running kernel's module first: the same source compiled twice is two modules of one
    // memory.
    const Module *m = w && w->module && w->module->data.holds(a) ? w->module : moduleAt(a);
    if (m && (!w || m == w->module) && describeVariables(m, a, &p)) return p;
    if (w && a >= (Addr)w->fibers[0].stack - guardSize &&
        a < (Addr)w->fibers[0].stack + maxThreads * (stackSize + guardSize)) {
        p.space = "local";
        return p;
    }
    if (w && w->shared && nearTo(*w->shared, a)) return describeShared(w, a);
    if (w && w->module && w->module->data.hi && !m && nearTo(w->module->data, a))
        if (describeVariables(w->module, a, &p)) return p;
    char text[64];
    snprintf(text, sizeof text, "0x%zx", (size_t)a);
    p.space = "none";
    p.note = a < 4096 ? "a null pointer" : std::string(text) + " is no device address";
    return p;
}

} // namespace simt
