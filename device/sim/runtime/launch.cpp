// launch.cpp - runs a kernel's blocks on all workers: each takes the next free
// block, and runs its threads as fibers.
#include <algorithm>
#include <atomic>
#include <mutex>

#include "cluster.h"
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
// A launch, as the workers share it.
struct Job {
    Module *module;
    LaunchShape shape;
    std::atomic<uint32_t> next{0}; // the first block that nobody has taken
    uint32_t blocks, teams = 1;    // of workers: each runs whole clusters
    uint32_t turns;                // blocks that run, or clusters: all, or a sample
    std::atomic<uint32_t> last;    // no later block matters: this one stopped the kernel
    std::mutex errors;
    std::string error; // of a worker that could not begin
};
uint64_t stepLimit;
uint32_t sampled; // blocks that run of each launch; 0: all
Job *running;

// spread is the block, or the cluster, whose turn it is. Each of a sample's lies in a share of its
// own of the grid, and each elsewhere in that share. If all lay in the middle, say, of shares that
// are whole heads, they would be the same tile of each: under a causal mask, tiles differ in what
// they do.
uint32_t spread(const Job *j, uint32_t turn, uint32_t all) {
    if (j->turns == all) return turn;
    double n = j->turns, share = all / n, at = (turn + 0.5) / n * (1 + 1 / n);
    return std::min(all - 1, (uint32_t)((turn + at - (uint32_t)at) * share));
}

// stopLater makes the workers on later blocks give up: if the blocks ran one by
// one, these would never have run.
void stopLater(Job *j, uint32_t block) {
    uint32_t last = j->last.load();
    while (block < last && !j->last.compare_exchange_weak(last, block)) {
    }
    for (Worker *w : workers)
        if (w->blockIndex > j->last) w->maxSteps = 0;
}

void endInCluster(Worker *w) {
    endMember(w);
    meetTeam(w->cluster, [] {});
}

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
        for (uint32_t at = (uint32_t)w->id / size; at < j->turns; at += j->teams)
            runBlock(w, j, blockOf(spread(j, at, clusterCount()), w->rank));
    for (; !cooperative() && !clustered();) {
        uint32_t turn = j->next++;
        if (turn >= j->turns) break;
        uint32_t index = spread(j, turn, j->blocks);
        if (index > j->last) break;
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
    return running->next < running->turns;
}

bool someStopped() {
    return running->last != noBlock;
}

void limitSteps(uint64_t most) {
    stepLimit = most;
}

void sampleBlocks(uint32_t most) {
    sampled = most;
}

bool samplesBlocks() {
    return sampled != 0;
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
    j.turns = size ? j.blocks / size : j.blocks;
    if (sampled && !s.cooperative)
        j.turns = std::min(j.turns, size ? std::max(1u, sampled / size) : sampled);
    for (Worker *w : workers) {
        w->kernel = k;
        w->args = args;
        w->dynamicBytes = s.dynamicBytes;
        w->ofSample.clear();
        w->allSteps = w->longest = w->mostRead = w->barriers = w->spilled = w->products =
            w->multiplied = w->groups = w->groupSteps = 0; // of those that get no block, too
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
    if (workers[0]->checks & TRAFFIC)
        endTraffic(m, stopped ? nullptr : k, s, j.turns * std::max(1u, size));
    return stopped ? LaunchResult::Stopped : LaunchResult::Done;
}

} // namespace simt
