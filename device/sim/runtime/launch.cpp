// launch.cpp - runs a kernel's blocks on all workers: each takes the next free
// block, and runs its threads as fibers.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>

#include "cluster.h"
#include "collective.h"
#include "fences.h"
#include "fiber.h"
#include "grid.h"
#include "hopper.h"
#include "prints.h"
#include "samples.h"
#include "schedule.h"
#include "spinning.h"
#include "workers.h"

extern "C" {
__thread simt::Index3 simt_threadIdx, simt_blockIdx, simt_blockDim, simt_gridDim;
}

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

// A launch, as the workers share it.
struct Job {
    Module *module;
    LaunchShape shape;
    std::atomic<uint32_t> next{0}; // the first block that nobody has taken
    uint32_t blocks, teams = 1;    // of workers: each runs whole clusters
    std::atomic<uint32_t> last;    // no later block matters: this one stopped the kernel
    std::mutex errors;
    std::string error; // of a worker that could not begin
};
uint64_t stepLimit;
Job *running;

// stopLater makes the workers on later blocks give up: if the blocks ran one by
// one, these would never have run.
void stopLater(Job *j, uint32_t block) {
    uint32_t last = j->last.load();
    while (block < last && !j->last.compare_exchange_weak(last, block)) {
    }
    for (Worker *w : workers)
        if (w->blockIndex > j->last) w->maxSteps = 0;
}

void endInCluster(Worker *w);

// beginInCluster waits for the block's neighbours, and then for its first turn. It returns false
// if it never comes.
bool beginInCluster(Worker *w, Job *j) {
    Cluster *c = w->cluster;
    beginMember(w);
    bool all = meetTeam(c, [&] {
        c->skipped = blockOf(clusterOf(w->blockIndex), 0) > j->last;
        c->failed = false;
        c->arrived = 0;
        c->phase = 0;
        c->gathering.clear();
        c->known.assign(mostBlocks, 0);
        c->running = 0;
    });
    if (!all || c->skipped) return false;
    if (takeTurn(w)) return true;
    w->stopped = w->cancelled = true;
    endInCluster(w);
    return false;
}

void endInCluster(Worker *w) {
    endMember(w);
    meetTeam(w->cluster, [] {});
}

void runBlock(Worker *w, Job *j, uint32_t index) {
    Index3 grid = j->shape.grid;
    simt_blockIdx = {index % grid.x, index / grid.x % grid.y, index / (grid.x * grid.y)};
    w->blockIndex = index;
    w->stamp = stampOf(index);
    w->maxSteps = stepLimit;
    w->attention = w->cluster && (w->checks & RACE) ? (uint32_t)InCluster : 0;
    startBlock(w, j->module);
    if (w->cluster && !beginInCluster(w, j)) return;
    if (UNLIKELY(index == w->drawn)) startTimeline(w);
    Fiber *f = &w->fibers[w->queue[w->head++ & queueMask]];
    enter(w, f);
    simt_switch(&w->mainStack, f->sp);
    settleWrites(w);
    if (UNLIKELY(w->timeline != nullptr)) endTimeline(w);
    countBlock(w);
    if (w->cluster) endInCluster(w);
    if (!w->stopped) {
        if (w->usesHopper) endHopper(w);
        return;
    }
    if (w->checks & TRAFFIC) flushOpen(w);
    if (!w->cancelled) stopLater(j, index);
}

void runBlocks(Worker *w, Job *j) {
    unsigned size = clustered() ? clusterOfTeam(0)->blocks : 1;
    if (clustered()) {
        w->cluster = clusterOfTeam((unsigned)w->id / size);
        w->rank = (unsigned)w->id % size;
    }
    std::string error;
    if (!prepareModule(w, j->module, &error)) {
        std::lock_guard<std::mutex> hold(j->errors);
        j->error = error;
        if (cooperative()) leaveGrid(true);
        if (clustered()) breakTeam(w->cluster);
        return;
    }
    simt_gridDim = j->shape.grid;
    simt_blockDim = j->shape.block;
    placeThreads(w, j->shape.block);
    worker = w;
    if (cooperative()) {
        runBlock(w, j, (uint32_t)w->id);
        leaveGrid(w->stopped);
    }
    if (clustered())
        for (uint32_t at = (uint32_t)w->id / size; at < clusterCount(); at += j->teams)
            runBlock(w, j, blockOf(at, w->rank));
    for (; !cooperative() && !clustered();) {
        uint32_t index = j->next++;
        if (index >= j->blocks || index > j->last) break;
        w->busy = true;
        runBlock(w, j, index);
    }
    w->busy = false;
    worker = nullptr;
}

void work(Worker *w, void *what) {
    runBlocks(w, (Job *)what);
}
} // namespace

bool blocksToCome() {
    return running->next < running->blocks;
}

bool someStopped() {
    return running->last != noBlock;
}

void limitSteps(uint64_t most) {
    stepLimit = most;
}

LaunchResult launch(Module *m, const KernelEntry *k, const LaunchShape &asked, void **args,
                    std::string *error) {
    const LaunchShape s = withOwn(k, asked);
    if (!possible(m, k, s, error)) return LaunchResult::Refused;
    uint64_t threads = (uint64_t)s.block.x * s.block.y * s.block.z;
    uint64_t blocks = (uint64_t)s.grid.x * s.grid.y * s.grid.z;
    size_t fixed = staticShared(m, k);
    if (s.cooperative &&
        (!resident(s, k, fixed, error) || !hire((uint32_t)blocks, (int)threads, error)))
        return LaunchResult::Refused;
    uint32_t size = s.cluster.x * s.cluster.y * s.cluster.z, clusterTeams = 1;
    if (size) {
        if (!clusterFits(s, k, error)) return LaunchResult::Refused;
        clusterTeams = (uint32_t)std::min<uint64_t>(std::max(1u, ordinary / size), blocks / size);
        if (!hire(clusterTeams * size, (int)threads, error)) return LaunchResult::Refused;
    }
    Job j;
    j.teams = clusterTeams;
    j.module = m;
    j.shape = s;
    j.blocks = (uint32_t)blocks;
    j.last = noBlock;
    for (Worker *w : workers) {
        w->kernel = k;
        w->args = args;
        w->dynamicBytes = s.dynamicBytes;
        w->allSteps = w->longest = w->mostRead = w->barriers = w->spilled = w->products =
            w->multiplied = 0; // of those that get no block, too
    }
    if (samplesAsked()) startSamples(k, j.blocks);
    bool races = workers[0]->checks & RACE;
    if (races) startBetween(j.blocks);
    if (s.cooperative) startGrid(m, j.blocks);
    if (size) startClusters(s, j.teams);
    const unsigned team = s.cooperative ? j.blocks
                          : size        ? j.teams * size
                          : blocks > 1  ? ordinary
                                        : 1;
    running = &j;
    startSpinning(team);
    together(team, work, &j);
    if (s.cooperative) endGrid();
    if (!j.error.empty()) {
        if (samplesAsked()) endSamples(m, nullptr);
        endClusters();
        *error = j.error;
        return LaunchResult::Refused;
    }
    bool stopped = j.last != noBlock;
    if (races) endBetween(m, j.last);
    endFindings(m, k, s, j.last);
    endClusters();
    endPrints(k, s, j.last);
    if (samplesAsked()) endSamples(m, stopped ? nullptr : k);
    if (workers[0]->checks & TRAFFIC) endTraffic(m, stopped ? nullptr : k, s);
    return stopped ? LaunchResult::Stopped : LaunchResult::Done;
}

} // namespace simt

extern "C" void simt_exit() {
    simt::endThread();
}
