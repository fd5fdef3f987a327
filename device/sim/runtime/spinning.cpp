// spinning.cpp - see spinning.h. A thread spins if it does next to nothing between one look at a
// word and the next. A block waits for another one if all its threads spin, or wait for those that
// do. If that is so of the blocks of all workers, and goes on, none of them will ever end.
#include "spinning.h"

#include <algorithm>

#include "cluster.h"
#include "grid.h"

namespace simt {

namespace {
constexpr uint64_t least = 32;         // looks of each thread before the block is looked at
constexpr uint64_t nextToNothing = 64; // steps
constexpr uint32_t enough = 3;         // times

unsigned teamSize; // of the running launch

// allSpin tells whether every thread that can run has spun since it was asked last.
bool allSpin(Worker *w, Spinning &s) {
    bool all = true;
    s.looks = s.due = 0;
    for (int i = 0; i < w->threads; i++) {
        Fiber &f = w->fibers[i];
        if (f.wait != Wait::None) continue;
        s.due += least;
        all = all && f.spins - f.spinsSeen >= least / 2;
        f.spinsSeen = f.spins;
    }
    return all;
}

// othersToo tells whether all other workers' blocks have spun as well since this one's began to,
// and come later: the first is the one that speaks.
bool othersToo(const Worker *w, const Spinning &s) {
    for (unsigned i = 0; i < teamSize; i++) {
        const Worker *o = workers[i];
        if (o == w || !o->busy) continue;
        if (o->allSpun - s.seen[i] < enough || o->blockIndex < w->blockIndex) return false;
    }
    return true;
}

COLD void stopSpinning(Worker *w, Addr pc) {
    {
        Finding f;
        f.check = "limits";
        f.kind = "not a cooperative launch";
        f.pc = pc;
        f.fatal = true;
        f.text = "waits for a block that has not begun";
        report(w, f);
    }
    stopKernel(w);
}
} // namespace

void startSpinning(unsigned team) {
    teamSize = team;
    for (Worker *w : workers) w->busy = false, w->allSpun = 0;
}

void spin(Worker *w, Spinning &s, Addr pc) {
    Fiber *f = w->current;
    if (w->steps - f->spunAt < nextToNothing) f->spins++;
    if (++s.looks < std::max(least, s.due)) return;
    if (!allSpin(w, s)) {
        s.rounds = 0;
        return;
    }
    w->allSpun = w->allSpun + 1;
    if (s.rounds++ == 0) {
        s.seen.clear();
        for (const Worker *o : workers) s.seen.push_back((uint32_t)o->allSpun);
    }
    if (s.rounds <= enough || cooperative() || clustered() || !othersToo(w, s)) return;
    if (someStopped()) { // what it waits for never comes, and that one's finding says why
        w->cancelled = true;
        stopKernel(w);
    }
    if (blocksToCome()) stopSpinning(w, pc);
}

} // namespace simt
