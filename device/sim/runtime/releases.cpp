// releases.cpp - a block that passes a fence and then an atomic makes known, to any block that
// comes to an atomic later, what its thread knew by then: all that the block did before its last
// barrier; since then, what the thread itself did, and those that it has met at __syncwarp or at a
// barrier of some threads (order.h). What other warps write without a barrier in between is not
// handed over.
#include "releases.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include "order.h"

namespace simt {

namespace {
constexpr uint16_t lastInterval = 0xffff; // and all behind it, which count as handed over

// One for each warp of a block and each interval between the block's barriers. What the warp's
// later atomics of the interval know counts as known at the first: missing a race is better than
// keeping each turn of a loop.
struct Release {
    uint32_t number;              // in the order in which blocks came to their atomics
    uint16_t interval, warp;      // of the thread that came
    std::vector<uint16_t> clocks; // by thread: what it did before its clock is made known

    bool covers(const Seen &x) const {
        if (interval == lastInterval || interval > x.interval) return true;
        if (interval < x.interval) return false;
        size_t thread = clocks.size() == 32 ? x.thread - warp * 32u : x.thread;
        return thread < clocks.size() && clocks[thread] > x.clock;
    }
};
constexpr size_t mostReleases = 4096; // kept of a block: the last stands for all that follow
// From the first fence on, an atomic and its counting are one step, so that the first of two
// blocks never counts as the later one. An atomic under way at that fence may count a block that
// comes just after it: missing a race is better than reporting one that does not exist.
std::atomic<bool> anyFence{false};
std::atomic_flag atomicUnderWay = ATOMIC_FLAG_INIT;
std::atomic<uint32_t> releases{0};
std::vector<std::vector<Release>> releasesOf; // by block, in their order
std::vector<uint32_t> metAt; // by block: how many releases there were at its last atomic

// releaseOf returns the running warp's in this interval.
Release &releaseOf(Worker *w, uint16_t warp, size_t width) {
    std::vector<Release> &all = releasesOf[w->blockIndex];
    uint16_t interval = all.size() < mostReleases ? intervalOf(w) : lastInterval;
    if (interval == lastInterval) overfull(w, Table::Releases);
    for (size_t i = all.size(); i-- > 0 && all[i].interval == interval;)
        if (all[i].warp == warp) return all[i];
    all.push_back({++releases, interval, warp, std::vector<uint16_t>(width)});
    return all.back();
}
} // namespace

uint16_t intervalOf(const Worker *w) {
    return (uint16_t)std::min<uint32_t>(w->epoch - w->blockEpoch, lastInterval);
}

void startReleases(uint32_t blocks) {
    releases = 0;
    anyFence = false;
    releasesOf.assign(blocks, {});
    metAt.assign(blocks, 0);
}

void fence(Worker *w) {
    w->fenced = true;
    if (!anyFence.load(std::memory_order_relaxed)) anyFence = true;
}

void release(Worker *w) {
    if (!w->fenced) return;
    const Fiber *f = w->current;
    size_t width = w->order ? firstEngine(w) : 32;
    std::vector<uint16_t> &clocks = releaseOf(w, f->warp, width).clocks;
    if (clocks.size() < width) { // barriers of some threads began in this interval
        clocks.insert(clocks.begin(), f->warp * 32, 0);
        clocks.resize(width);
    }
    if (w->order)
        for (size_t t = 0; t < width; t++)
            clocks[t] = std::max(clocks[t], w->order[f->id * orderWidth(w) + t]);
    uint16_t *warp = clocks.data() + (clocks.size() == 32 ? 0 : f->warp * 32);
    const uint16_t *known = w->warps[f->warp].known[f->lane];
    for (int l = 0; l < 32; l++) warp[l] = std::max(warp[l], known[l]);
    warp[f->lane] = 0xffff;
}

void acquire(Worker *w) {
    w->synchronised = true;
    metAt[w->blockIndex] = releases;
}

void meet(Worker *w) {
    w->synchronised = w->meeting = true;
    w->ordered = anyFence;
    if (w->ordered)
        while (atomicUnderWay.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
    release(w);
}

void met(Worker *w) {
    w->meeting = false;
    acquire(w);
    if (w->ordered) atomicUnderWay.clear(std::memory_order_release);
}

bool comesAfter(uint32_t block, const Seen &access, uint32_t otherBlock) {
    const std::vector<Release> &all = releasesOf[otherBlock];
    return (access.synchronised & 1) && !all.empty() && all[0].number <= metAt[block];
}

bool relies(uint32_t block, const Seen &access, uint32_t otherBlock, const Seen &other) {
    if (!comesAfter(block, access, otherBlock)) return false;
    const std::vector<Release> &all = releasesOf[otherBlock];
    auto r = std::partition_point(all.begin(), all.end(),
                                  [&](const Release &r) { return r.interval < other.interval; });
    for (; r != all.end() && r->number <= metAt[block]; ++r)
        if (r->covers(other)) return true;
    return false;
}

} // namespace simt
