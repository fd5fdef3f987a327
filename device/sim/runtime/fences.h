// fences.h - what the fences of the running block came after: an atomic or a flag behind them can
// make known nothing else. A fence covers what its thread did, and what that knew of others by a
// barrier. Whose fence it is does not matter to who tells later.
#pragma once
#include <memory>

#include "order.h"

namespace simt {

// Reach is that of the block's fences of one kind.
struct Reach {
    uint32_t epoch = 0; // the interval of the latest one: all intervals before it are covered
    // Of that interval, by thread: what it did before this clock is covered.
    std::shared_ptr<std::vector<Clock>> clocks;
};

// Fences is what a worker keeps of them. The device's own count as the block's, too.
struct Fences {
    Reach block, device;
};

void passFence(Worker *w, bool block); // the running thread
void forgetFences(Worker *w);
// joinCovered joins, by thread, what of this interval a thread knows and a fence has covered.
void joinCovered(const Worker *w, const Fiber *f, const Reach &r, Clock *into);
// tellCovered is tell (order.h) of what is covered.
void tellCovered(Worker *w, const Fiber *f, std::vector<Clock> &into);

} // namespace simt
