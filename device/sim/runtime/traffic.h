// traffic.h - how the accesses of a warp are put together again. The lanes run one
// after another here: the n-th time since the last barrier that the lanes of a warp
// pass one instruction is one request of that warp. The first lane writes a trace of
// its requests, and the others, which mostly do the same, walk along it.
#pragma once
#include "runtime.h"

namespace simt {

constexpr unsigned maxSites = 4096, siteSlots = 4 * maxSites;
// Requests a lane may have open: a long loop without a barrier must not fill the
// machine's memory.
constexpr uint32_t maxOpen = 2048;

// An instruction's accesses are counted apart by kind. By a generic pointer the same one may read
// shared memory first and device memory later, and what the runtime does for a kernel has the
// address of the call. So the counts know an access by a key: the address, with its kind above
// the 48 bits that addresses have.
constexpr unsigned pcBits = 48;
inline Addr keyOf(Addr pc, unsigned n, Op op, bool shared) {
    return pc | (Addr)__builtin_ctz(n) << pcBits | (Addr)op << (pcBits + 3) |
           (Addr)shared << (pcBits + 5);
}
inline Addr pcOf(Addr key) {
    return key & (((Addr)1 << pcBits) - 1);
}

// The addresses of one warp at one passing of an instruction. Nearly always
// each half of the warp walks in equal steps, which takes 24 bytes instead of
// 256; the rest is kept in full elsewhere.
struct Request {
    Addr key;
    Addr base[2]; // of lanes 0 and 16, by extrapolation; 0, as long as there is none
    int32_t step[2];
    uint32_t mask;      // lanes that have come by
    uint32_t irregular; // index + 1, or 0; then base and step are 0
    uint32_t site;

    Addr expected(unsigned lane) const {
        return base[lane / 16] + (Addr)((int64_t)step[lane / 16] * (lane % 16));
    }
};

struct Addresses {
    uint32_t mask;
    Addr at[32];
};

// What one warp has open, in the order of its first lane.
struct Trace {
    Request *requests; // room for all that 32 lanes may have open, and one more
    Request *end;      // its mask has all bits: no lane walks on there
    uint32_t indexed;  // how many of them `positions` knows
    std::vector<std::vector<uint32_t>> positions; // by site: its requests in the trace
    std::vector<Addresses> irregular;

    uint32_t count() const { return (uint32_t)(end - requests); }
};

// What tells how many passes a request for shared memory takes, all banks being alike.
struct Shape {
    uint32_t mask;
    int32_t step[2];
    uint32_t low; // the address within its word
    int64_t apart;
    bool operator==(const Shape &o) const {
        return mask == o.mask && step[0] == o.step[0] && step[1] == o.step[1] && low == o.low &&
               apart == o.apart;
    }
};

struct Site {
    Addr key;
    unsigned size;
    Op op;
    bool shared;
    uint64_t requests, bytes, sectors, wavefronts;
    Shape lastShape; // of a regular request
    unsigned lastPasses;
};

struct Slot {
    Addr key;
    uint32_t site;
};

// A model of the L1 cache. Warps run one after another here, and side by side on a GPU. So a sector
// is there if any of the block's warps read it at about the same time, counting each warp's own
// requests for device memory: among so many of them, or the as many before. What is kept are
// hashes of sector, block and that time.
constexpr unsigned keptHashes = 1 << 20, keptRequests = 64;

// What one worker has counted in the running launch.
struct Traffic {
    std::vector<Site> sites;
    Trace warps[32];
    uint64_t fetched = 0, sentBack = 0, missed = 0;
    uint64_t *kept = nullptr;       // of the L1 cache; none where nobody asked
    uint32_t passed[32] = {}, when; // requests of each warp, and which one is counted
    uint64_t blocks = 0;            // that have ended here
    // Bytes that the running block has read of device memory, and of other blocks' shared memory.
    uint64_t read = 0;
    uint64_t variables = 0; // sectors of the module's variables that were first written to here
    std::vector<uint32_t> marked; // sectors to forget when the launch is over
    Slot table[siteSlots];
};

// ---- coalesce.cpp -----------------------------------------------------------------
void countRequest(Traffic *t, const Trace &trace, const Request &r);
void countRange(Traffic *t, Site &s, Addr a, uint64_t bytes);
void forgetSectors(Traffic *t); // of the model of device memory
Addresses expand(const Request &r, const Trace &t);
unsigned passesOf(const Trace &t, const Request &r, Site &s); // of shared memory's banks

// ---- trace.cpp --------------------------------------------------------------------
void recordElsewhere(Worker *w, Addr a, unsigned n, Op op, bool shared, Addr key);

inline void countOpen(Worker *w, Fiber *f) {
    if (LIKELY(++f->open != maxOpen)) return;
    f->full = true;
    w->attention |= TraceFull;
}

// recordTraffic notes one lane's access. What is next in the trace, and at the
// address that the lanes before let expect, is dealt with here.
INLINE void recordTraffic(Worker *w, Addr a, unsigned n, Op op, bool shared, Addr pc) {
    Fiber *f = w->current;
    Request *r = f->next;
    uint32_t bit = 1u << f->lane;
    Addr key = keyOf(pc, n, op, shared);
    if (UNLIKELY(r->key != key || (r->mask & bit) || r->expected(f->lane) != a))
        return recordElsewhere(w, a, n, op, shared, key);
    r->mask |= bit;
    f->next = r + 1;
    countOpen(w, f);
}

} // namespace simt
