// barriers.cpp - switches between the threads of a block: one runs until it
// waits at a barrier or ends, then the next one in the queue goes on.
#include <utility>

#include "cluster.h"
#include "fiber.h"
#include "hopper.h"
#include "samples.h"
#include "skips.h"

extern "C" {
extern __thread simt::Index3 simt_threadIdx;
}

__thread simt::Addr simt_own_stack = simt::noStack;

namespace simt {

void push(Worker *w, uint16_t id) {
    w->queue[w->tail++ & queueMask] = id;
}

void enter(Worker *w, Fiber *f) {
    if (UNLIKELY(w->timeline != nullptr)) chargeSteps(w);
    w->current = f;
    setOwnStack(w, UNLIKELY(f->inFlight) ? noStack : ownStackOf(f));
    w->attention =
        (w->attention & (PendingValue | InCluster)) | (f->full ? (uint32_t)TraceFull : 0);
    simt_threadIdx = f->thread;
}

// A warp all of whose lanes wait or have gone has no open requests left.
void laneWaits(Worker *w, int warp) {
    if (++w->warps[warp].waiting == w->warps[warp].lanes && (w->checks & TRAFFIC))
        flushWarp(w, warp);
}

Finding syncFinding(const char *kind, int line) {
    Finding f;
    f.check = "synccheck";
    f.kind = kind;
    f.line = line;
    return f;
}

std::string threadName(const Fiber &f) {
    return "thread (" + std::to_string(f.thread.x) + "," + std::to_string(f.thread.y) + "," +
           std::to_string(f.thread.z) + ")";
}

std::string waiting(int n, const std::string &of) {
    return std::to_string(n) + (n == 1 ? " thread" + of + " waits" : " threads" + of + " wait");
}

// Threads that wait for different things, none of which can happen.
static void deadlock(Worker *w) {
    {
        std::string text;
        int line = 0;
        for (auto [wait, what] : {std::pair{Wait::Block, "__syncthreads()"},
                                  std::pair{Wait::Warp, "a warp-wide operation"}}) {
            std::map<int, std::pair<int, int>> byLine; // line → first thread, how many
            for (int i = 0; i < w->threads; i++)
                if (w->fibers[i].wait == wait) {
                    auto &e = byLine.emplace(w->fibers[i].line, std::pair{i, 0}).first->second;
                    e.second++;
                }
            for (auto &[at, e] : byLine) {
                if (!text.empty()) text += "; ";
                text += waiting(e.second) + " at " + what + " in line " + std::to_string(at) +
                        ", the first is " + threadName(w->fibers[e.first]);
                if (!line) line = at;
            }
        }
        std::string kind = "deadlock";
        int otherLine = 0;
        if (w->usesHopper) {
            std::string more = whoWaits(w, &line, &kind, &otherLine);
            text += (text.empty() || more.empty() ? "" : "; ") + more;
        }
        if (w->cluster) {
            std::string more = whoWaitsInCluster(w, &line);
            text += (text.empty() || more.empty() ? "" : "; ") + more;
        }
        if (w->exited) text += "; " + std::to_string(w->exited) + " have returned";
        Finding f = syncFinding(kind.c_str(), line);
        f.otherLine = otherLine;
        f.text = text;
        f.fatal = true;
        report(w, f);
    }
    stopKernel(w);
}

static void checkBarrier(Worker *w) {
    Fiber *first = nullptr, *other = nullptr;
    for (int i = 0; i < w->threads; i++) {
        Fiber *f = &w->fibers[i];
        if (f->wait != Wait::Block) continue;
        if (!first)
            first = f;
        else if (f->line != first->line && !other)
            other = f;
    }
    if (other) {
        Finding f = syncFinding("divergent barrier", first->line);
        f.otherLine = other->line;
        f.text = threadName(*first) + " waits at the barrier in line " +
                 std::to_string(first->line) + ", " + threadName(*other) + " at the one in line " +
                 std::to_string(other->line);
        report(w, f);
    }
    // Who has returned counts as arrived. Some of a warp may have skipped the barrier instead.
    for (int i = 0; w->exited && i * 32 < w->threads; i++)
        if (w->warps[i].alive) leftBefore(w, i, first->line);
    if (w->exited) noteEnded(w, first->line);
}

static void releaseBarrier(Worker *w) {
    if (w->checks & SYNC) checkBarrier(w);
    int count = 0, every = 1;
    for (int i = 0; i < w->threads; i++) {
        if (w->fibers[i].wait != Wait::Block) continue;
        if (w->fibers[i].predicate)
            count++;
        else
            every = 0;
    }
    if (UNLIKELY(w->timeline != nullptr)) endStretch(w, w->current->line);
    w->epoch++; // from here on, everything before is ordered
    if (w->usesHopper) w->hopper->progress++;
    if (w->cluster) shareCluster(w);
    w->barriers++;
    LineBarriers &at = w->barriersAt[w->current->line];
    at.met++;
    at.threads += (uint64_t)w->atBarrier;
    w->atBarrier = 0;
    for (int i = 0; i * 32 < w->threads; i++)
        w->warps[i].waiting = w->warps[i].lanes - (uint32_t)__builtin_popcount(w->warps[i].alive);
    for (int i = 0; i < w->threads; i++) {
        Fiber *f = &w->fibers[i];
        if (f->wait != Wait::Block) continue;
        f->wait = Wait::None;
        if (f->voteResult) *f->voteResult = f->vote == 1 ? every : f->vote == 2 ? count > 0 : count;
        push(w, f->id);
    }
}

// reschedule leaves the current fiber, whose wait is set, for the next one
// that can run; it returns when the current one can.
void reschedule(Worker *w) {
    Fiber *me = w->current;
    for (;;) {
        if (w->head != w->tail) {
            Fiber *next = &w->fibers[w->queue[w->head++ & queueMask]];
            if (next == me) return;
            const void *soon = w->fibers[w->queue[w->head & queueMask]].sp;
            __builtin_prefetch(soon), __builtin_prefetch((const char *)soon + 64);
            enter(w, next);
            simt_switch(&me->sp, next->sp);
            return;
        }
        if (w->alive == 0) {
            simt_switch(&me->sp, w->mainStack);
            return;
        }
        if (w->gathering)
            gatherLanes(w);
        else if (w->atBarrier == w->alive)
            releaseBarrier(w);
        else if (w->cluster ? !leaveToOthers(w) : !w->usesHopper || !letGiveUp(w))
            deadlock(w);
    }
}

void yieldThread(Worker *w) {
    // Whoever spins may wait for another block of its cluster.
    if (w->cluster && (w->head == w->tail || ++w->yields % 64 == 0)) passTurn(w);
    if (w->head == w->tail) return;
    push(w, w->current->id);
    reschedule(w);
}

void stopKernel(Worker *w) {
    w->stopped = true;
    if (w->meeting) met(w); // stopped within an atomic: others wait for it
    void *lost;
    simt_switch(&lost, w->mainStack);
    __builtin_unreachable();
}

} // namespace simt

extern "C" {

// vote: 0 none, 1 and, 2 or, 3 count.
void simt_barrier(int line, int vote, int predicate, int *result) {
    using namespace simt;
    Worker *w = worker;
    if (++w->steps > w->maxSteps) {
        {
            Finding f;
            f.check = "limits";
            f.kind = w->maxSteps ? "steps" : "time";
            f.line = line;
            f.fatal = true;
            report(w, f);
        }
        stopKernel(w);
    }
    Fiber *f = w->current;
    f->wait = Wait::Block;
    f->line = line;
    f->vote = vote;
    f->predicate = predicate;
    f->voteResult = result;
    w->atBarrier++;
    laneWaits(w, f->warp);
    reschedule(w);
}

// simt_yield lets others run: a thread that spins on an atomic waits for them.
void simt_yield() {
    simt::yieldThread(simt::worker);
}
}
