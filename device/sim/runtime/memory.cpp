// memory.cpp - device memory: one reserved range, its shadow, and the
// allocations in it. Freed addresses are not handed out again until the range
// is used up, so that use after free is seen.
#include "cluster.h"
#include "samples.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace simt {

namespace {
struct Allocation {
    uint64_t bytes;
    std::string name;
    bool freed;
};
std::map<Addr, Allocation> allocations;
Addr top;
uint64_t inUse, limit;
// Bytes between allocations, so that an overrun meets memory that is not live, and not another
// array: as many as the array has before it, within bounds. Where the range is used up, the least.
constexpr uint64_t gap = 256, smallestGap = 64 << 10, largestGap = 1 << 20;

uint64_t gapBehind(uint64_t bytes) {
    return std::clamp(bytes, smallestGap, largestGap);
}

Addr align(Addr a) {
    return (a + 255) & ~Addr(255);
}

// gapFor finds room among the freed allocations once the range is used up.
Addr gapFor(uint64_t bytes) {
    for (auto it = allocations.begin(); it != allocations.end();)
        it = it->second.freed ? allocations.erase(it) : std::next(it);
    Addr from = arena.lo + gap;
    for (auto &[at, a] : allocations) {
        if (from + bytes + gap <= at) return from;
        from = align(at + a.bytes + gap);
    }
    return from + bytes + gap <= arena.hi - heapRange ? from : 0;
}
} // namespace

Region arena;

void *reserve(size_t bytes) {
    void *p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) {
        fprintf(stderr, "simulator: cannot reserve %zu MB of address space\n", bytes >> 20);
        exit(3);
    }
    return p;
}

void initMemory(uint64_t memoryLimit, bool races) {
    limit = memoryLimit;
    size_t bytes = (2 * limit + (64 << 20) + heapRange + 0xffff) & ~size_t(0xffff); // whole pages
    arena.lo = (Addr)reserve(bytes);
    arena.hi = arena.lo + bytes;
    arena.state = (uint8_t *)reserve(bytes);
    top = arena.lo + smallestGap;
    for (Worker *w : workers) {
        w->arena = arena;
        if (races) shadow(&w->arena, true);
    }
}

void shadow(Region *r, bool betweenBlocks) {
    size_t words = (r->hi - r->lo) / 4 + 8 + (1 << pageShift) / 4; // whole pages
    r->cells = (Cell *)reserve(words * sizeof(Cell));
    r->settled = (uint32_t *)reserve(words * sizeof(uint32_t));
    if (!betweenBlocks) return;
    r->between = (Between *)reserve(words * sizeof(Between));
    r->touched = (uint8_t *)reserve((words * 4 >> pageShift) + 2);
}

bool allocate(uint64_t bytes, const std::string &name, Addr *out, std::string *error) {
    if (bytes == 0 || bytes > limit - inUse) {
        char text[160];
        snprintf(text, sizeof text, "%llu bytes asked for, %llu of %llu in use",
                 (unsigned long long)bytes, (unsigned long long)inUse, (unsigned long long)limit);
        *error = text;
        return false;
    }
    Addr a = align(top);
    Addr end = arena.hi - heapRange;
    if (a + bytes + gap > end) {
        a = gapFor(bytes);
        if (!a) {
            *error = "device memory is too fragmented";
            return false;
        }
    } else {
        top = std::min(a + bytes + gapBehind(bytes), end);
    }
    inUse += bytes;
    memset(arena.state + (a - arena.lo), LIVE, bytes);
    memset((void *)a, 0xff, bytes); // NaN: what was never written should look like it
    allocations[a] = Allocation{bytes, name, false};
    *out = a;
    return true;
}

uint64_t heldBytes() {
    return inUse;
}

bool release(Addr a, std::string *error) {
    auto it = allocations.find(a);
    if (it == allocations.end() || it->second.freed) {
        *error = it == allocations.end() ? "no allocation starts at this address"
                                         : "'" + it->second.name + "' was freed before";
        return false;
    }
    it->second.freed = true;
    inUse -= it->second.bytes;
    memset(arena.state + (a - arena.lo), FREED, it->second.bytes);
    return true;
}

void dropShadow(Addr lo, uint64_t bytes) {
    size_t at = lo - arena.lo;
    // Dropped pages read as zero again: no state, no remembered accesses.
    madvise((void *)lo, bytes, MADV_DONTNEED);
    madvise(arena.state + at, bytes, MADV_DONTNEED);
    for (Worker *w : workers) {
        if (!w->arena.cells) continue;
        madvise(w->arena.cells + at / 4, bytes / 4 * sizeof(Cell), MADV_DONTNEED);
        madvise(w->arena.settled + at / 4, bytes, MADV_DONTNEED);
        madvise(w->arena.between + at / 4, bytes / 4 * sizeof(Between), MADV_DONTNEED);
    }
}

void releaseAll() {
    if (top > arena.lo) dropShadow(arena.lo, top - arena.lo);
    emptyHeap();
    allocations.clear();
    inUse = 0;
    top = arena.lo + smallestGap;
}

bool withinAllocation(Addr a, uint64_t bytes, std::string *error) {
    auto it = allocations.upper_bound(a);
    if (it != allocations.begin()) {
        --it;
        const Allocation &in = it->second;
        if (!in.freed && a - it->first <= in.bytes && bytes <= in.bytes - (a - it->first))
            return true;
        if (a - it->first < in.bytes || a == it->first) {
            *error = in.freed ? "'" + in.name + "' was freed"
                              : "it reaches beyond '" + in.name + "' of " +
                                    std::to_string(in.bytes) + " bytes";
            return false;
        }
    }
    if (withinVariable(a, bytes)) return true;
    *error = "the address is not in any allocation";
    return false;
}

std::vector<Array> liveArrays() {
    std::vector<Array> all;
    for (auto &[at, a] : allocations)
        if (!a.freed) all.push_back({at, a.bytes, a.name});
    return all;
}

static uint8_t *stateAt(Addr a) {
    const Region &r = arena.holds(a) ? arena : moduleAt(a)->data;
    return r.state + (a - r.lo);
}

void setState(Addr a, uint64_t bytes, bool initialised) {
    uint8_t *s = stateAt(a);
    const uint8_t kept = *s & CONSTANT; // of a variable
    memset(s, kept | LIVE | (initialised ? INITIALISED : 0), bytes);
}

bool firstUninitialised(Addr a, uint64_t bytes, uint64_t *offset) {
    const uint8_t *s = stateAt(a);
    for (uint64_t i = 0; i < bytes; i++)
        if (!(s[i] & INITIALISED)) {
            *offset = i;
            return true;
        }
    return false;
}

// nearest is the allocation that an address is in, or the one that ends before it. A little before
// one begins, an index into that is negative; but most indices go wrong at the end.
static std::map<Addr, Allocation>::iterator nearest(Addr a) {
    auto after = allocations.upper_bound(a);
    if (after == allocations.begin()) return after;
    auto before = std::prev(after);
    Addr end = before->first + before->second.bytes;
    bool nearer = after != allocations.end() && !after->second.freed && a >= end &&
                  4 * (after->first - a) <= a - end;
    return nearer ? after : before;
}

// passed lists the arguments that point into an array: what the kernel calls it.
static std::vector<int> passed(Worker *w, Addr lo, Addr hi) {
    std::vector<int> all;
    if (!w || !w->kernel || !w->args) return all;
    for (int i = 0; i < w->kernel->count; i++) {
        if (w->kernel->kinds[i] != 'p') continue;
        Addr at = *(const Addr *)w->args[i];
        if (at >= lo && at < hi) all.push_back(i);
    }
    return all;
}

void describeAllocation(Worker *w, Addr a, Place *p) {
    p->space = "global";
    auto it = nearest(a);
    if (it == allocations.end()) {
        p->note = "before the first allocation";
        return;
    }
    p->name = it->second.name;
    p->offset = (int64_t)(a - it->first);
    p->size = it->second.bytes;
    p->passed = passed(w, it->first, it->first + p->size);
    if (it->second.freed) p->note = "freed";
}

} // namespace simt
