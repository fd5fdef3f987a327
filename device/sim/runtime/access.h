// access.h - the path of every load and store of a kernel: memcheck, initcheck,
// racecheck, then the counts. Each step ends in a jump to the next or out of line, so
// that the usual path is short and keeps nothing on the stack.
#pragma once
#include <sys/types.h>

#include <cstring>

#include "cluster.h"
#include "onhost.h"
#include "races.h"
#include "traffic.h"

namespace simt {

// ---- access.cpp -----------------------------------------------------------------
void stopAccess(Worker *w, const char *kind, Addr a, unsigned n, Op op, Addr pc);
void stopSteps(Worker *w, Addr pc);
void reportUninitialised(Worker *w, Addr a, unsigned n, Op op, Addr pc);
// Its own local memory, while a product has yet to fill some of it (wgmma.cpp).
void touchLocal(Worker *w, Addr a, unsigned n, Op op, Addr pc);
void countRaced(Worker *w, Region *r, Addr a, unsigned n, Op op, Addr pc);

// lacks tells whether any of n bytes' states lacks a bit that all shall have; the
// pattern is that of eight bytes.
template <unsigned n> inline bool lacks(const uint8_t *s, uint64_t wanted) {
    if constexpr (n == 16) return lacks<8>(s, wanted) || lacks<8>(s + 8, wanted);
    uint64_t state = 0, mask = n == 8 ? ~0ull : (1ull << (8 * n % 64)) - 1;
    memcpy(&state, s, n < 8 ? n : 8);
    return ~state & wanted & mask;
}

template <unsigned n> inline void setInitialised(uint8_t *s) {
    for (unsigned i = 0; i < n; i += 8) {
        uint64_t state = 0;
        memcpy(&state, s + i, n < 8 ? n : 8);
        state |= eachByte(INITIALISED);
        memcpy(s + i, &state, n < 8 ? n : 8);
    }
}

// settled tells whether no further reader of several words matters (shadow.h).
template <unsigned n> inline bool settled(const Worker *w, const Region *r, Addr a) {
    const uint32_t *word = r->settled + ((a - r->lo) >> 2);
    uint32_t other = 0;
    for (unsigned i = 0; i < n / 4; i++) other |= word[i] ^ w->epoch;
    return !other;
}

template <unsigned n, Op op> INLINE bool quickly(Worker *w, Region *r, Addr a, Addr pc) {
    if (n > 4 && op == READ && !(a & 3)) return settled<n>(w, r, a);
    if (n != 4 || (a & 3) || op == ATOMIC) return false;
    return op == READ ? wordRead(w, r, a, pc) : wordWrite(w, r, a, pc);
}

// What the compiler knows about an access. Watched ones are for the race detector or the
// counts; the others have a separate, shorter path.
template <unsigned size, Op operation, bool any, bool watch, bool count = true> struct Kind {
    static constexpr unsigned n = size;
    static constexpr Op op = operation;
    static constexpr bool anyAlignment = any, watched = watch, counted = count;
};

template <class K> INLINE void allowed(Worker *w, Region *r, Addr a, Addr pc) {
    if (K::op != READ && (w->checks & INIT)) setInitialised<K::n>(r->state + (a - r->lo));
    if (!K::watched) return;
    if ((w->checks & RACE) && !quickly<K::n, K::op>(w, r, a, pc))
        return (K::counted ? countRaced : checkRace)(w, r, a, K::n, K::op, pc);
    if (K::counted && (w->checks & TRAFFIC)) recordTraffic(w, a, K::n, K::op, r == w->shared, pc);
}

// judge says what is wrong with an access that lacks something it needs, the worst
// first. If it does not stop the kernel, the access is made.
template <class K> COLD void judge(Worker *w, Region *r, Addr a, Addr pc, bool crooked) {
    constexpr unsigned n = K::n;
    constexpr Op op = K::op;
    const uint8_t *s = r->state + (a - r->lo);
    if (w->checks & MEM) {
        if (crooked && (*s & LIVE)) stopAccess(w, "misaligned", a, n, op, pc);
        if (lacks<n>(s, eachByte(LIVE)))
            stopAccess(w, (*s & FREED) ? "use after free" : "out of bounds", a, n, op, pc);
        if (op != READ && (*s & CONSTANT)) stopAccess(w, "write to constant memory", a, n, op, pc);
    }
    if ((w->checks & INIT) && op != WRITE && lacks<n>(s, eachByte(INITIALISED)))
        reportUninitialised(w, a, n, op, pc);
    allowed<K>(w, r, a, pc);
}

template <class K> INLINE void within(Worker *w, Region *r, Addr a, Addr pc) {
    const uint8_t *s = r->state + (a - r->lo);
    bool crooked = !K::anyAlignment && (a & (K::n - 1));
    if (UNLIKELY(lacks<K::n>(s, K::op == WRITE ? w->writeNeeds : w->readNeeds) || crooked ||
                 (K::op != READ && (*s & CONSTANT))))
        return judge<K>(w, r, a, pc, crooked);
    allowed<K>(w, r, a, pc);
}

// inNeighbour is for shared memory of another block of the cluster.
template <class K> COLD void inNeighbour(Worker *w, Worker *owner, Addr a, Addr pc) {
    constexpr unsigned n = K::n;
    uint8_t *s = owner->shared->state + (a - owner->shared->lo);
    if (w->checks & MEM) {
        if (!K::anyAlignment && (a & (n - 1))) stopAccess(w, "misaligned", a, n, K::op, pc);
        if (lacks<n>(s, eachByte(LIVE))) stopAccess(w, "out of bounds", a, n, K::op, pc);
    }
    if (visit(w, owner, a, n, K::op, pc)) {
        if ((w->checks & INIT) && K::op != WRITE && lacks<n>(s, eachByte(INITIALISED)))
            reportUninitialised(w, a, n, K::op, pc);
        if (w->checks & RACE) checkCross(w, owner, a, n, K::op, pc);
    }
    if (K::op != READ && (w->checks & INIT)) setInitialised<n>(s);
    if (K::watched && K::counted && (w->checks & TRAFFIC)) {
        recordTraffic(w, a, n, K::op, true, pc);
        if (K::op == READ) w->traffic->read += n; // whoever moved it there, this block works on it
    }
}

// elsewhere is for addresses outside shared and device memory.
template <class K> COLD void elsewhere(Worker *w, Addr a, Addr pc) {
    if (a - (Addr)w->current->stack < stackSize) return touchLocal(w, a, K::n, K::op, pc);
    if (Worker *owner = neighbourAt(w, a)) return inNeighbour<K>(w, owner, a, pc);
    if (w->data->holds(a)) return within<K>(w, w->data, a, pc);
    // The module's own read-only data (constant tables, strings) is not checked.
    if (K::op != READ || a < w->module->base || a >= w->module->end)
        stopAccess(w, "out of bounds", a, K::n, K::op, pc);
}

template <class K> INLINE void through(Worker *w, Addr a, Addr pc) {
    if (a - w->stackLo < ownStack) return; // the thread's own local memory
    if (UNLIKELY(++w->steps > w->maxSteps)) stopSteps(w, pc);
    Region *r = w->shared;
    if (!r->holds(a)) r = &w->arena;
    if (UNLIKELY(!r->holds(a))) return elsewhere<K>(w, a, pc);
    within<K>(w, r, a, pc);
}

// attend first does what has been waiting for this access.
template <class K> COLD void attend(Worker *w, Addr a, Addr pc) {
    settleWrites(w);
    bool local = ownLocal(w, a);
    if ((w->attention & TraceFull) && !local && w->steps < w->maxSteps) {
        makeRoom(w);
        settleWrites(w); // others ran meanwhile
    }
    if ((w->attention & InCluster) && w->shared->holds(a)) checkCross(w, w, a, K::n, K::op, pc);
    through<K>(w, a, pc);
}

template <class K> [[gnu::noinline]] void watched(Worker *w, Addr a, Addr pc) {
    if (UNLIKELY(w->attention)) return attend<K>(w, a, pc);
    through<K>(w, a, pc);
}

template <unsigned n, Op op, bool anyAlignment = false> INLINE void access(Addr a, Addr pc) {
    Worker *w = worker;
    if (UNLIKELY(!w)) {
        if (onHost) onHost(a, n, op, pc);
        return;
    }
    if (w->checks & (RACE | TRAFFIC)) return watched<Kind<n, op, anyAlignment, true>>(w, a, pc);
    through<Kind<n, op, anyAlignment, false>>(w, a, pc);
}

template <Op op> inline void range(Addr a, size_t n, Addr pc);

template <Op op> inline void sized(Addr a, unsigned n, Addr pc) {
    switch (n) {
    case 1:
        return access<1, op>(a, pc);
    case 2:
        return access<2, op>(a, pc);
    case 4:
        return access<4, op>(a, pc);
    case 8:
        return access<8, op>(a, pc);
    case 16:
        return access<16, op>(a, pc);
    default:
        return range<op>(a, n, pc);
    }
}

template <Op op> inline void range(Addr a, size_t n, Addr pc) {
    Worker *w = worker;
    if (UNLIKELY(!w)) {
        if (onHost) onHost(a, n, op, pc);
        return;
    }
    if (ownLocal(w, a)) { // a local array, filled or copied
        if (Addr top = (Addr)w->current->stack + stackSize; UNLIKELY(n > top - a))
            stopAccess(w, "out of bounds", top, 1, op, pc);
        w->current->deepest = std::min(w->current->deepest, a);
        return;
    }
    // g++ reports a scalar that it knows to be misaligned as a range.
    if ((n == 2 || n == 4 || n == 8) && (a & (n - 1))) return sized<op>(a, (unsigned)n, pc);
    for (; n >= 4; a += 4, n -= 4) access<4, op, true>(a, pc);
    for (; n; a++, n--) access<1, op, true>(a, pc);
}
} // namespace simt
