// races.h - the race detector's answer to the commonest access, the reading of one
// aligned word; races.cpp has the rest.
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

// wordRead deals with the reading of a whole word that this block has not written
// since the last barrier. It returns false if that is not the case.
inline bool wordRead(Worker *w, Region *r, Addr a, Addr pc) {
    size_t i = (a - r->lo) >> 2;
    if (r->settled[i] == w->epoch) return true;
    Cell *c = r->cells + i;
    if (UNLIKELY(c->write.epoch == w->epoch)) return false;
    if (r->between && UNLIKELY(!knownBetween(w, r->between[i].read, 2, 15))) return false;
    if (convicts(w, c)) {
        r->settled[i] = w->epoch;
        return true;
    }
    // The first reader of the interval is kept, and the last other one.
    Access *slot = &c->read1;
    if (slot->epoch == w->epoch && slot->thread() != w->current->id) slot = &c->read2;
    *slot = accessOf(w, 15, READ, pc);
    return true;
}

} // namespace simt
