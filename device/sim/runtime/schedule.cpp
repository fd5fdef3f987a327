// schedule.cpp - runs the threads of a block as fibers: a fiber runs until it
// waits at a barrier or ends, then the next one in the queue goes on.
#include "runtime.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>

#include "fiber.h"

extern "C" {
__thread simt::Index3 simt_threadIdx, simt_blockIdx, simt_blockDim, simt_gridDim;
}

namespace simt {

std::vector<Worker *> workers;

namespace {
constexpr uint32_t queueMask = 2 * maxThreads - 1;

void push(Worker *w, uint16_t id) {
    w->queue[w->tail++ & queueMask] = id;
}

void enter(Worker *w, Fiber *f) {
    w->current = f;
    w->stackLo = (Addr)f->stack;
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

// Threads that wait for different things, none of which can happen.
void deadlock(Worker *w) {
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
                text += std::to_string(e.second) + " thread(s) wait at " + what + " in line " +
                        std::to_string(at) + ", the first is " + threadName(w->fibers[e.first]);
                if (!line) line = at;
            }
        }
        if (w->exited) text += "; " + std::to_string(w->exited) + " have returned";
        Finding f = syncFinding("deadlock", line);
        f.text = text;
        f.fatal = true;
        report(w, f);
    }
    stopKernel(w);
}

void checkBarrier(Worker *w) {
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
    if (w->exited) {
        Finding f = syncFinding("barrier not reached by all", first->line);
        int gone = 0;
        while (w->fibers[gone].wait != Wait::Exited) gone++;
        f.text = std::to_string(w->alive) + " threads wait at the barrier, " +
                 std::to_string(w->exited) + " have returned without it, the first is " +
                 threadName(w->fibers[gone]);
        report(w, f);
    }
}

void releaseBarrier(Worker *w) {
    if (w->checks & SYNC) checkBarrier(w);
    int count = 0, every = 1;
    for (int i = 0; i < w->threads; i++) {
        if (w->fibers[i].wait != Wait::Block) continue;
        if (w->fibers[i].predicate)
            count++;
        else
            every = 0;
    }
    w->epoch++; // from here on, everything before is ordered
    w->barriers++;
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
            enter(w, next);
            simt_switch(&me->sp, next->sp);
            return;
        }
        if (w->alive == 0) {
            simt_switch(&me->sp, w->mainStack);
            return;
        }
        if (w->atBarrier == w->alive)
            releaseBarrier(w);
        else
            deadlock(w);
    }
}

// ---- warp collectives -------------------------------------------------------------
// Kinds, as include/simt/warp.h numbers them.
enum { SyncWarp = 1, Shuffle, Ballot, Match, Together };

void joinClocks(Warp *wp, Fiber *const *lane) {
    uint16_t joined[32] = {};
    for (int l = 0; l < 32; l++)
        if (lane[l])
            for (int k = 0; k < 32; k++) joined[k] = std::max(joined[k], wp->known[l][k]);
    for (int l = 0; l < 32; l++) {
        if (!lane[l]) continue;
        for (int k = 0; k < 32; k++) wp->known[l][k] = joined[k] + (lane[k] ? 1 : 0);
    }
}

void shuffle(Worker *w, Fiber *const *lane) {
    for (int l = 0; l < 32; l++) {
        Fiber *me = lane[l];
        if (!me) continue;
        Fiber *from = me->source >= 0 && me->source < 32 ? lane[me->source] : nullptr;
        if (!from && (w->checks & SYNC)) {
            Finding f = syncFinding("absent lane", me->line);
            f.text = "lane " + std::to_string(l) + " (" + threadName(*me) + ") reads from lane " +
                     std::to_string(me->source) + ", which does not take part";
            report(w, f);
        }
        memcpy(me->out, from ? from->in : me->in, me->size);
    }
}

void ballot(Fiber *const *lane) {
    unsigned votes = 0;
    for (int l = 0; l < 32; l++)
        if (lane[l] && *(const int *)lane[l]->in) votes |= 1u << l;
    for (int l = 0; l < 32; l++)
        if (lane[l]) *(unsigned *)lane[l]->out = votes;
}

void match(Fiber *const *lane) {
    for (int l = 0; l < 32; l++) {
        if (!lane[l]) continue;
        unsigned same = 0;
        for (int k = 0; k < 32; k++)
            if (lane[k] && !memcmp(lane[k]->in, lane[l]->in, lane[l]->size)) same |= 1u << k;
        *(unsigned *)lane[l]->out = same;
    }
}

// tryWarp runs a collective once all its lanes have arrived.
bool tryWarp(Worker *w, Fiber *f) {
    Warp *wp = &w->warps[f->warp];
    Fiber *lane[32] = {};
    for (uint32_t need = f->mask & wp->alive; need; need &= need - 1) {
        int l = __builtin_ctz(need);
        Fiber *o = &w->fibers[f->warp * 32 + l];
        if (o->wait != Wait::Warp || o->mask != f->mask || o->kind != f->kind) return false;
        if (f->kind == Together && !sameGathering(o, f)) return false;
        lane[l] = o;
    }
    switch (f->kind) {
    case SyncWarp:
        joinClocks(wp, lane);
        break;
    case Shuffle:
        shuffle(w, lane);
        break;
    case Ballot:
        ballot(lane);
        break;
    case Match:
        match(lane);
        break;
    case Together:
        gather(w, lane);
        break;
    }
    for (int l = 0; l < 32; l++) {
        if (!lane[l]) continue;
        lane[l]->wait = Wait::None;
        if (lane[l] != w->current) push(w, lane[l]->id);
    }
    return true;
}

// ---- threads -----------------------------------------------------------------------
void threadMain() {
    Worker *w = worker;
    w->kernel->call(w->args);
    w = worker;
    Fiber *f = w->current;
    endCopies(w, f);
    f->wait = Wait::Exited;
    w->alive--;
    w->exited++;
    Warp *wp = &w->warps[f->warp];
    wp->alive &= ~(1u << f->lane);
    laneWaits(w, f->warp);
    // A lane that is gone no longer holds up its warp's collectives.
    for (uint32_t rest = wp->alive; rest; rest &= rest - 1) {
        Fiber *o = &w->fibers[f->warp * 32 + __builtin_ctz(rest)];
        if (o->wait == Wait::Warp && (o->mask >> f->lane & 1) && tryWarp(w, o)) break;
    }
    reschedule(w);
    __builtin_unreachable();
}

void startBlock(Worker *w, Module *m) {
    w->blockEpoch = ++w->epoch;
    w->steps = 0;
    w->stopped = w->fenced = w->synchronised = false;
    w->foundBefore = w->found.size();
    w->alive = w->threads;
    w->atBarrier = w->exited = 0;
    w->head = w->tail = 0;
    // Shared memory starts undefined in every block.
    Region &r = *w->shared;
    size_t used = m->dynamicAt + w->dynamicBytes;
    memset(r.state, 0, m->tlsSize);
    for (auto &s : m->symbols)
        if (takesShared(m, w->kernel, s)) memset(r.state + s.lo, LIVE, s.hi - s.lo);
    memset(r.state + m->dynamicAt, LIVE, w->dynamicBytes);
    memset((void *)r.lo, 0xff, used);
    for (int i = 0; i * 32 < w->threads; i++) {
        Warp &wp = w->warps[i];
        wp.lanes = (uint32_t)std::min(32, w->threads - i * 32);
        wp.alive = wp.lanes == 32 ? ~0u : (1u << wp.lanes) - 1;
        wp.waiting = 0;
        memset(wp.known, 0, sizeof wp.known);
        for (int l = 0; l < 32; l++) wp.known[l][l] = 1;
    }
    for (int i = 0; i < w->threads; i++) {
        Fiber *f = &w->fibers[i];
        f->wait = Wait::None;
        f->full = false;
        f->copies.clear();
        f->group = 0;
        f->cursor = f->counted = f->open = 0;
        f->sp = freshStack(f->stack, stackSize, threadMain);
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

// A launch, as the workers share it.
struct Job {
    Module *module;
    LaunchShape shape;
    std::atomic<uint32_t> next{0}; // the first block that nobody has taken
    uint32_t blocks;
    std::atomic<uint32_t> last; // no later block matters: this one stopped the kernel
    std::string error;          // of a worker that could not begin
};
std::mutex jobMutex;
std::condition_variable jobGiven, jobDone;
Job *job;
unsigned jobNumber, busy;
uint64_t stepLimit;

// stopLater makes the workers on later blocks give up: were the blocks run one
// by one, these would never have run.
void stopLater(Job *j, uint32_t block) {
    uint32_t last = j->last.load();
    while (block < last && !j->last.compare_exchange_weak(last, block)) {
    }
    for (Worker *w : workers)
        if (w->blockIndex > j->last) w->maxSteps = 0;
}

void runBlock(Worker *w, Job *j, uint32_t index) {
    Index3 grid = j->shape.grid;
    simt_blockIdx = {index % grid.x, index / grid.x % grid.y, index / (grid.x * grid.y)};
    w->blockIndex = index;
    w->maxSteps = stepLimit;
    startBlock(w, j->module);
    Fiber *f = &w->fibers[w->queue[w->head++ & queueMask]];
    enter(w, f);
    simt_switch(&w->mainStack, f->sp);
    settleWrites(w);
    w->allSteps += w->steps;
    if (!w->stopped) return;
    if (w->checks & TRAFFIC) flushOpen(w);
    stopLater(j, index);
}

void runBlocks(Worker *w, Job *j) {
    std::string error;
    w->allSteps = w->barriers = 0;
    if (!prepareModule(w, j->module, &error)) {
        std::lock_guard<std::mutex> hold(jobMutex);
        j->error = error;
        return;
    }
    simt_gridDim = j->shape.grid;
    simt_blockDim = j->shape.block;
    placeThreads(w, j->shape.block);
    worker = w;
    for (;;) {
        uint32_t index = j->next++;
        if (index >= j->blocks || index > j->last) break;
        runBlock(w, j, index);
    }
    worker = nullptr;
}

// helper is the life of every worker but the first, which is the main thread.
void helper(Worker *w) {
    useSignalStack();
    unsigned seen = 0;
    for (;;) {
        Job *mine;
        {
            std::unique_lock<std::mutex> hold(jobMutex);
            jobGiven.wait(hold, [&] { return jobNumber != seen; });
            seen = jobNumber;
            mine = job;
        }
        runBlocks(w, mine);
        std::lock_guard<std::mutex> hold(jobMutex);
        if (--busy == 0) jobDone.notify_one();
    }
}

void runEverywhere(Job *j) {
    {
        std::lock_guard<std::mutex> hold(jobMutex);
        job = j;
        jobNumber++;
        busy = (unsigned)workers.size() - 1;
    }
    jobGiven.notify_all();
    runBlocks(workers[0], j);
    std::unique_lock<std::mutex> hold(jobMutex);
    jobDone.wait(hold, [] { return busy == 0; });
}

Worker *newWorker(int id, unsigned checks) {
    auto *w = new Worker();
    w->id = id;
    w->checks = checks;
    w->fibers = new Fiber[maxThreads]();
    w->warps = new Warp[maxThreads / 32]();
    w->queue = new uint16_t[queueMask + 1]();
    w->traffic = newTraffic();
    size_t each = stackSize + guardSize;
    char *stacks = (char *)reserve(each * maxThreads);
    for (int i = 0; i < maxThreads; i++) {
        // The guard below each stack turns an overrun into a signal, not into
        // another thread's wrong answer.
        mprotect(stacks + i * each, guardSize, PROT_NONE);
        w->fibers[i].stack = stacks + i * each + guardSize;
        w->fibers[i].occurrence = (uint32_t *)reserve(4096 * sizeof(uint32_t));
    }
    return w;
}
} // namespace

void yieldThread(Worker *w) {
    if (w->head == w->tail) return;
    push(w, w->current->id);
    reschedule(w);
}

void stopKernel(Worker *w) {
    w->stopped = true;
    void *lost;
    simt_switch(&lost, w->mainStack);
    __builtin_unreachable();
}

void initScheduler(int threads, unsigned checks, uint64_t maxSteps) {
    stepLimit = maxSteps;
    for (int i = 0; i < threads; i++) workers.push_back(newWorker(i, checks));
}

LaunchResult launch(Module *m, const KernelEntry *k, const LaunchShape &s, void **args,
                    std::string *error) {
    uint64_t threads = (uint64_t)s.block.x * s.block.y * s.block.z;
    uint64_t blocks = (uint64_t)s.grid.x * s.grid.y * s.grid.z;
    if (threads < 1 || threads > maxThreads || s.dynamicBytes > maxShared || blocks > noBlock / 2) {
        *error = "the launch's shape is beyond the device's limits";
        return LaunchResult::Refused;
    }
    size_t fixed = staticShared(m, k);
    if (fixed + s.dynamicBytes > maxShared) {
        *error = std::to_string(fixed) + " bytes of static and " + std::to_string(s.dynamicBytes) +
                 " of dynamic shared memory are more than the " + std::to_string(maxShared) +
                 " that a block may have";
        return LaunchResult::Refused;
    }
    Job j;
    j.module = m;
    j.shape = s;
    j.blocks = (uint32_t)blocks;
    j.last = noBlock;
    for (Worker *w : workers) {
        w->kernel = k;
        w->args = args;
        w->dynamicBytes = s.dynamicBytes;
    }
    bool races = workers[0]->checks & RACE;
    if (races) startBetween(j.blocks);
    static bool helpersStarted;
    if (blocks > 1 && workers.size() > 1) {
        for (size_t i = 1; i < workers.size() && !helpersStarted; i++)
            std::thread(helper, workers[i]).detach();
        helpersStarted = true;
        runEverywhere(&j);
    } else {
        runBlocks(workers[0], &j);
    }
    if (!j.error.empty()) {
        *error = j.error;
        return LaunchResult::Refused;
    }
    bool stopped = j.last != noBlock;
    if (races) endBetween(m, k, j.last);
    endFindings(m, k, s, j.last);
    if (workers[0]->checks & TRAFFIC) endTraffic(m, stopped ? nullptr : k);
    return stopped ? LaunchResult::Stopped : LaunchResult::Done;
}

} // namespace simt

// ---- what the shim calls ---------------------------------------------------------------
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

void simt_warp(unsigned mask, int kind, const void *in, void *out, int size, int source, int line) {
    using namespace simt;
    Worker *w = worker;
    Fiber *f = w->current;
    uint32_t lanes = w->warps[f->warp].lanes;
    mask &= lanes == 32 ? ~0u : (1u << lanes) - 1;
    if (!(mask >> f->lane & 1)) {
        if (w->checks & SYNC) {
            Finding x = syncFinding("wrong mask", line);
            x.text = threadName(*f) + " is lane " + std::to_string(f->lane) +
                     ", which the mask it passes leaves out";
            report(w, x);
        }
        mask |= 1u << f->lane;
    }
    f->wait = Wait::Warp;
    f->mask = mask;
    f->kind = kind;
    f->in = in;
    f->out = out;
    f->size = size;
    f->source = source;
    f->line = line;
    if (!tryWarp(w, f)) reschedule(w);
}

// simt_yield lets others run: a thread that spins on an atomic waits for them.
void simt_yield() {
    simt::yieldThread(simt::worker);
}

unsigned simt_lane() {
    return simt::worker->current->lane;
}
unsigned simt_active() {
    return simt::worker->warps[simt::worker->current->warp].alive;
}
}
