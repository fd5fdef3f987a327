// releases.cpp - a block that passes a fence and then an atomic makes known, to any block that
// comes to an atomic later, what its thread knew by then and a fence came after (fences.h): all
// that the block did before the barrier before its last fence; since then, what the fence's thread
// itself did, and those that it has met at __syncwarp or at a barrier of some threads (order.h).
// What other warps write without a barrier in between is not handed over.
#include "releases.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include "fences.h"

namespace simt {

namespace {
constexpr uint16_t lastInterval = 0xffff; // and all behind it, which count as handed over

// One for each warp of a block and each interval between the block's barriers. What the warp's
// later atomics of the interval know counts as known at the first: missing a race is better than
// keeping each turn of a loop.
struct Release {
    uint32_t number; // in the order in which blocks came to their atomics
    uint16_t at;     // the interval of the atomic
    uint16_t fenced; // that of the latest fence before it
    uint16_t warp;   // of the thread that came; of no matter if the fence is of an earlier interval
    std::shared_ptr<std::vector<Clock>> clocks; // of the fence's interval (fences.h)

    // The atomic that makes known is known itself, though it is behind the fence: it has the clock
    // that comes next, or the atomic's interval. So has what the thread does at other atomics until
    // its clock ticks: missing that race is better than reporting this one.
    bool covers(const Seen &x, bool atomic) const {
        if (at == lastInterval || fenced > x.interval) return true;
        if (fenced < x.interval) return atomic && at == x.interval;
        return x.thread < clocks->size() && (*clocks)[x.thread] + atomic > x.clock;
    }
};
constexpr uint16_t anyWarp = 0xffff;
constexpr size_t mostReleases = 4096; // kept of a block: the last stands for all that follow
// From the first fence on, an atomic and its counting are one step, so that the first of two
// blocks never counts as the later one. An atomic under way at that fence may count a block that
// comes just after it: missing a race is better than reporting one that does not exist.
std::atomic<bool> anyFence{false};
std::atomic_flag atomicUnderWay = ATOMIC_FLAG_INIT;
std::atomic<uint32_t> releases{0};
std::vector<std::vector<Release>> releasesOf; // by block, in their order
std::vector<uint32_t> metAt; // by block: how many releases there were at its last atomic

uint16_t intervalAt(const Worker *w, uint32_t epoch) {
    return (uint16_t)std::min<uint32_t>(epoch - w->blockEpoch, lastInterval);
}

// releaseOf returns that of a warp in this interval, behind that fence.
Release &releaseOf(Worker *w, uint16_t warp, uint16_t fenced) {
    std::vector<Release> &all = releasesOf[w->blockIndex];
    uint16_t at = all.size() < mostReleases ? intervalOf(w) : lastInterval;
    if (at == lastInterval) overfull(w, Table::Releases);
    for (size_t i = all.size(); i-- > 0 && all[i].at == at;)
        if (all[i].warp == warp && all[i].fenced == fenced) return all[i];
    all.push_back({++releases, at, fenced, warp, nullptr});
    return all.back();
}
} // namespace

uint16_t intervalOf(const Worker *w) {
    return intervalAt(w, w->epoch);
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
    const Reach &reach = w->fences->device;
    const bool now = reach.epoch == w->epoch;
    Release &r = releaseOf(w, now ? f->warp : anyWarp, intervalAt(w, reach.epoch));
    if (!now) { // the block has met since: the thread knows of all its fences
        r.clocks = reach.clocks;
        return;
    }
    if (!r.clocks) r.clocks = std::make_shared<std::vector<Clock>>(firstEngine(w));
    joinCovered(w, f, reach, r.clocks->data());
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

bool lacksFence(uint32_t block, const Seen &access, uint32_t otherBlock, const Seen &other) {
    if (!comesAfter(block, access, otherBlock)) return false;
    const std::vector<Release> &all = releasesOf[otherBlock];
    return std::any_of(all.begin(), all.end(), [&](const Release &r) {
        return r.number <= metAt[block] && r.at > other.interval && r.fenced <= other.interval;
    });
}

bool relies(uint32_t block, const Seen &access, uint32_t otherBlock, const Seen &other,
            bool atomic) {
    if (!comesAfter(block, access, otherBlock)) return false;
    const std::vector<Release> &all = releasesOf[otherBlock];
    auto r = std::partition_point(all.begin(), all.end(),
                                  [&](const Release &r) { return r.at < other.interval; });
    for (; r != all.end() && r->number <= metAt[block]; ++r)
        if (r->covers(other, atomic)) return true;
    return false;
}

} // namespace simt
