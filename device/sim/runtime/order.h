// order.h - who knows of whose accesses within an interval between block barriers: vector clocks,
// for barriers that only some threads pass. A thread's clock is that of its warp (races.h); it
// ticks when the thread tells others what it did. Behind the threads come the engines: what the
// copy engine writes for an mbarrier is the work of a thread of its own, whose clock is the phase,
// and what wgmma reads for a warpgroup that of another, whose clock counts its products.
#pragma once
#include "runtime.h"
#include "tables.h"

namespace simt {

typedef uint16_t Clock;
// A clock that has run to its end stays there, and what happens then has the clock before it: it
// looks ordered.
constexpr Clock lastClock = 0xffff;

inline unsigned firstEngine(const Worker *w) {
    return ((unsigned)w->threads + 31) & ~31u;
}
constexpr unsigned barrierClocks = 64, groupClocks = 8, engineClocks = barrierClocks + groupClocks,
                   clusterClocks = 16;
inline size_t orderWidth(const Worker *w) {
    return firstEngine(w) + engineClocks + (w->cluster ? clusterClocks : 0);
}
void startOrder(Worker *w); // nobody knows anything yet of the running interval
void tick(Worker *w, Fiber *f);
void tell(Worker *w, Fiber *f, std::vector<Clock> &into); // and ticks
void learn(Worker *w, Fiber *f, const std::vector<Clock> &from);
void shareInWarp(Worker *w, Fiber *const *lane); // all that are not null
// joinClocks is of the clocks within a warp (warps.cpp).
void joinClocks(Worker *w, Warp *wp, Fiber *const *lane);
void meetInWarp(Worker *w, int warp); // as __syncwarp() of all lanes that live

// knows tells whether an earlier access of another warp, or of an engine, is before this thread's
// next one.
inline bool knows(const Worker *w, const Fiber *f, const Access &x) {
    return w->order && w->order[f->id * orderWidth(w) + x.thread()] > x.clock;
}

// before is the same for any access of this block to anything.
inline bool before(const Worker *w, const Fiber *f, const Access &x) {
    if (x.epoch != w->epoch || x.thread() == f->id) return true;
    if (x.warp() != f->warp) return knows(w, f, x);
    return w->warps[f->warp].known[f->lane][x.thread() & 31] > x.clock;
}
Access accessNow(const Worker *w, Addr pc); // of the running thread

} // namespace simt
