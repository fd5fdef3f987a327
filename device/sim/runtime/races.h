// races.h - the race detector's answer to the commonest accesses, those of one aligned
// word; races.cpp has the rest.
#pragma once
#include "runtime.h"

namespace simt {

void checkRace(Worker *w, Region *r, Addr a, unsigned n, Op op, Addr pc);
extern uint32_t firstStamp; // of this launch's blocks; older ones are of earlier launches

// knownBetween tells whether the running block's accesses of one kind to a word
// are noted already, or come too late to be.
inline bool knownBetween(const Worker *w, const Seen *slots, int count, unsigned mask) {
    for (int i = 0; i < count; i++) {
        if (slots[i].stamp == w->stamp) return (slots[i].mask & mask) == mask;
        if (slots[i].stamp < firstStamp) return false;
    }
    return true;
}

inline Access accessOf(const Worker *w, unsigned mask, Op op, Addr pc) {
    const Fiber *me = w->current;
    return {w->epoch, (uint32_t)(pc - w->codeBase),
            (uint16_t)(me->id | mask << Access::maskShift |
                       (unsigned)(op == ATOMIC) << Access::atomicShift),
            me->clock};
}

// Two readers of this interval in different warps are enough to convict any
// later writer: no order can clear both.
inline bool convicts(const Worker *w, const Cell *c) {
    const Access &a = c->read1, &b = c->read2;
    return a.epoch == w->epoch && b.epoch == w->epoch && a.warp() != b.warp() &&
           (a.mask() & b.mask()) == 15;
}

// alone tells whether no other thread is known to have made this access since the
// last block barrier.
inline bool alone(const Worker *w, const Access &x) {
    return x.epoch != w->epoch || x.thread() == w->current->id;
}

// wordRead deals with the reading of a whole word that no other thread has written
// since the last barrier. It returns false if that is not the case.
INLINE bool wordRead(Worker *w, Region *r, Addr a, Addr pc) {
    size_t i = (a - r->lo) >> 2;
    if (r->settled[i] == w->epoch) return true;
    Cell *c = r->cells + i;
    if (UNLIKELY(!alone(w, c->write))) return false;
    if (r->between && UNLIKELY(!knownBetween(w, r->between[i].read, 2, 15))) return false;
    if (convicts(w, c)) {
        if (c->write.epoch != w->epoch) r->settled[i] = w->epoch;
        return true;
    }
    // The first reader of the interval is kept, and the last other one.
    Access *slot = alone(w, c->read1) ? &c->read1 : &c->read2;
    *slot = accessOf(w, 15, READ, pc);
    return true;
}

// wordWrite is the same for writing a word that no other thread has touched.
INLINE bool wordWrite(Worker *w, Region *r, Addr a, Addr pc) {
    size_t i = (a - r->lo) >> 2;
    Cell *c = r->cells + i;
    if (!alone(w, c->write) || !alone(w, c->read1) || !alone(w, c->read2)) return false;
    if (r->between && !knownBetween(w, r->between[i].write, 2, 15)) return false;
    c->write = accessOf(w, 15, WRITE, pc);
    r->settled[i] = 0;
    return true;
}

} // namespace simt
