// named.cpp - bar.sync and bar.arrive: sixteen barriers, each for as many threads as its callers
// say.
#include <algorithm>

#include "hopper.h"

using namespace simt;

extern "C" void simt_barrier(int line, int vote, int predicate, int *result);

extern "C" void simt_named_barrier(unsigned id, unsigned count, int waits, int line) {
    Worker *w = worker;
    Fiber *f = w->current;
    auto refuse = [&](const std::string &text) {
        refuseHopper(w, "bad barrier", line, "bar.sync: " + text);
    };
    if (id > 15) refuse("there are barriers 0 to 15, not " + std::to_string(id));
    if (!count) count = ((unsigned)w->threads + 31) / 32 * 32;
    if (count % 32) refuse("threads come by whole warps, so not " + std::to_string(count));
    if (waits && id == 0 && count >= (unsigned)w->threads) return simt_barrier(line, 0, 0, nullptr);
    // The lanes that a last, incomplete warp lacks count as there.
    unsigned all = std::min(count, (unsigned)w->threads);
    NamedBarrier &b = hopperOf(w).named[id];
    if (b.arrived && b.count != all)
        refuseHopper(w, "bad barrier", line,
                     "barrier " + std::to_string(id) + " is for " + std::to_string(count) +
                         " threads here, and for " + std::to_string(b.count) + " in line " +
                         std::to_string(b.line) + ", where others wait");
    if (!b.arrived) b.line = line;
    b.count = all;
    b.arrived++;
    w->hopper->progress++;
    tell(w, f, b.gathering);
    if (b.arrived < b.count) {
        if (!waits) return;
        b.waiting.push_back(f->id);
        f->wait = Wait::Named;
        f->line = line;
        return reschedule(w);
    }
    b.arrived = 0;
    w->barriers++;
    for (uint16_t t : b.waiting) {
        learn(w, &w->fibers[t], b.gathering);
        w->fibers[t].wait = Wait::None;
        push(w, t);
    }
    if (waits) learn(w, f, b.gathering);
    b.waiting.clear();
    b.gathering.clear();
}
