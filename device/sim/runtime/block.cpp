// block.cpp - a block's threads: each begins as a fiber on a stack of its own, calls the kernel,
// and ends.
#include <algorithm>
#include <cstring>

#include "cluster.h"
#include "collective.h"
#include "fences.h"
#include "fiber.h"
#include "hopper.h"
#include "schedule.h"

namespace simt {

namespace {
// What a thread keeps on its stack beyond the registers that it could have is in device
// memory on a GPU: 65,536 of them for a block, and 255 for a thread at most. This compiler
// itself keeps more there than nvcc would; `slack` is above what it took for any kernel of
// the course's. Who goes beyond has arrays there, and all of it counts.
void countSpilled(Worker *w, const Fiber *f) {
    constexpr size_t slack = 4096;
    size_t used = f->top - f->deepest, held = 4 * (size_t)std::min(255, 65536 / w->threads);
    if (used > held + slack) w->spilled += used - held;
}

[[noreturn]] void endThread() {
    Worker *w = worker;
    Fiber *f = w->current;
    endCopies(w, f);
    if (w->usesHopper) leaveHopper(w, f);
    countSpilled(w, f);
    f->wait = Wait::Exited;
    w->alive--;
    w->exited++;
    Warp *wp = &w->warps[f->warp];
    wp->alive &= ~(1u << f->lane);
    laneWaits(w, f->warp);
    if (w->cluster) leaveCluster(w, f);
    // A lane that is gone no longer holds up its warp's collectives.
    for (uint32_t rest = wp->alive; rest; rest &= rest - 1) {
        Fiber *o = &w->fibers[f->warp * 32 + __builtin_ctz(rest)];
        if (o->wait == Wait::Warp && (o->mask >> f->lane & 1) && tryWarp(w, o)) break;
    }
    reschedule(w);
    __builtin_unreachable();
}

void threadMain() {
    worker->kernel->call(worker->args);
    endThread();
}

// Stacks are a whole number of pages apart. If their tops were too, all threads would
// share a few sets of the processor's caches.
constexpr size_t colour(int thread) {
    return (size_t)thread % 16 * 256;
}

// A thread's stack starts undefined as well: what the thread before has left there would be memory
// that nobody moved anything to. What of it lies below `deepest` is the fast path's, which notes no
// depth.
void forgetStack(Fiber *f) {
    Addr end = (Addr)f->stack + stackSize, low = end - ownStack;
    if (f->deepest) low = std::min(low, f->deepest & ~(Addr)63);
    memset((void *)low, 0xff, end - low);
}
} // namespace

void startBlock(Worker *w, Module *m) {
    w->blockEpoch = ++w->epoch;
    w->steps = 0;
    w->stopped = w->cancelled = w->fenced = w->synchronised = w->meeting = w->usesHopper = false;
    w->order = nullptr;
    forgetFences(w);
    w->alive = w->threads;
    w->atBarrier = w->exited = w->gathering = 0;
    w->head = w->tail = 0;
    w->skips.clear();
    w->endedBefore.clear();
    // Shared memory starts undefined in every block.
    Region &r = *w->shared;
    size_t used = m->dynamicAt + w->dynamicBytes;
    memset(r.state, 0, m->tlsSize);
    for (auto &s : m->symbols)
        if (takesShared(m, w->kernel, s)) memset(r.state + s.lo, LIVE, s.hi - s.lo);
    memset(r.state + m->dynamicAt, LIVE, w->dynamicBytes);
    memset((void *)r.lo, 0xff, used);
    if (w->cluster && r.cross) memset((void *)r.cross, 0, used / 4 * sizeof(CrossCell));
    for (int i = 0; i * 32 < w->threads; i++) {
        Warp &wp = w->warps[i];
        wp.lanes = (uint32_t)std::min(32, w->threads - i * 32);
        wp.alive = wp.lanes == 32 ? ~0u : (1u << wp.lanes) - 1;
        wp.waiting = wp.arrived = 0;
        memset(wp.known, 0, sizeof wp.known);
        for (int l = 0; l < 32; l++) wp.known[l][l] = 1;
    }
    for (int i = 0; i < w->threads; i++) {
        Fiber *f = &w->fibers[i];
        f->wait = Wait::None;
        f->clock = 1;
        f->met = 0;
        startTrace(w, f);
        f->copies.clear();
        f->late.clear();
        f->group = 0;
        f->inFlight = f->fenced = f->fencedAnew = false;
        f->looked = f->came = f->spunAt = f->spins = f->spinsSeen = 0;
        f->clusterArrived = f->clusterWaited = f->clusterFenced = f->clusterLearned = 0;
        forgetStack(f);
        f->top = f->deepest = (Addr)f->stack + stackSize - colour(i);
        f->sp = freshStack(f->stack, stackSize - colour(i), threadMain);
        push(w, (uint16_t)i);
    }
}

void placeThreads(Worker *w, Index3 block) {
    w->threads = (int)(block.x * block.y * block.z);
    for (int i = 0; i < w->threads; i++) {
        Fiber &f = w->fibers[i];
        f.id = (uint16_t)i;
        f.warp = (uint16_t)(i / 32);
        f.lane = (uint16_t)(i % 32);
        f.thread = {i % block.x, i / block.x % block.y, i / (block.x * block.y)};
    }
}

} // namespace simt

extern "C" void simt_exit() {
    simt::endThread();
}
