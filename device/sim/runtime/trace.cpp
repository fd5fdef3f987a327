// trace.cpp - a warp's trace of requests: its growth, and lanes that do not follow it.
#include "traffic.h"

#include "hopper.h"
#include "samples.h"
#include "skips.h"
#include "tables.h"

#include <cstring>

namespace simt {

namespace {
bool modelsCache;

uint32_t siteOf(Traffic *t, Addr key, unsigned n, Op op, bool shared) {
    uint32_t h = (uint32_t)((key * 0x9E3779B97F4A7C15ull) >> 48) % siteSlots;
    for (; t->table[h].key; h = (h + 1) % siteSlots)
        if (t->table[h].key == key) return t->table[h].site;
    if (t->sites.size() == maxSites) return maxSites;
    t->table[h] = {key, (uint32_t)t->sites.size()};
    t->sites.push_back(Site{});
    Site &s = t->sites.back();
    s.key = key;
    s.size = n;
    s.op = op;
    s.shared = shared;
    return t->table[h].site;
}

// append opens a request. The entry from before the last barrier was usually the same
// instruction's.
Request *append(Traffic *traffic, Trace &t, Addr key, unsigned n, Op op, bool shared) {
    Request *r = t.end;
    uint32_t site = r->site;
    if (r->key != key || site >= traffic->sites.size() || traffic->sites[site].key != key)
        site = siteOf(traffic, key, n, op, shared);
    if (site == maxSites) return nullptr;
    *r = Request{key, {}, {}, 0, 0, site};
    t.end = r + 1;
    t.end->mask = ~0u;
    return r;
}

// find looks for a lane's request where it is not the next of the trace: the
// lane took another path. It counts how often it has passed each instruction so far,
// and takes the request of the next pass.
Request *find(Traffic *traffic, Trace &t, Fiber *f, Addr key, unsigned n, Op op, bool shared) {
    uint32_t site = siteOf(traffic, key, n, op, shared);
    if (site == maxSites) return nullptr;
    for (; f->counted < f->next; f->counted++)
        if (f->counted->mask >> f->lane & 1) f->occurrence[f->counted->site]++;
    if (t.positions.size() < traffic->sites.size()) t.positions.resize(traffic->sites.size());
    for (; t.indexed < t.count(); t.indexed++)
        t.positions[t.requests[t.indexed].site].push_back(t.indexed);
    auto &positions = t.positions[site];
    uint32_t nth = f->occurrence[site];
    // Where it left requests out before, it is further along than it has counted.
    while (nth < positions.size() && (t.requests[positions[nth]].mask >> f->lane & 1)) nth++;
    f->occurrence[site] = nth + 1;
    Request *r = nth < positions.size() ? t.requests + positions[nth]
                                        : append(traffic, t, key, n, op, shared);
    f->counted = r + 1;
    return r;
}

// add notes an address that was not expected. The first lane of a half sets the
// base, the second the step; one that does not fit makes the request irregular.
void add(Request &r, std::vector<Addresses> &full, unsigned lane, Addr a) {
    unsigned half = lane / 16;
    uint32_t seen = r.mask >> (16 * half) & 0xFFFF;
    if (!r.irregular && !seen) {
        r.base[half] = a; // right only for step 0, until there is a step
    } else if (!r.irregular && !(seen & (seen - 1))) {
        unsigned first = (unsigned)__builtin_ctz(seen);
        int64_t apart = (int64_t)(a - r.base[half]), lanes = (int64_t)(lane % 16) - first;
        int64_t step = apart / lanes;
        if (step * lanes == apart && step == (int32_t)step) {
            r.step[half] = (int32_t)step;
            r.base[half] -= (Addr)(step * first);
        }
    }
    if (!r.irregular && r.expected(lane) != a) {
        full.emplace_back();
        for (uint32_t rest = r.mask; rest; rest &= rest - 1) {
            unsigned l = (unsigned)__builtin_ctz(rest);
            full.back().at[l] = r.expected(l);
        }
        r.irregular = (uint32_t)full.size();
        memset(r.base, 0, sizeof r.base);
        memset(r.step, 0, sizeof r.step);
    }
    if (r.irregular) full[r.irregular - 1].at[lane] = a;
    r.mask |= 1u << lane;
}
} // namespace

void modelCache() {
    modelsCache = true;
}

Traffic *newTraffic() {
    auto *t = new Traffic();
    for (Trace &trace : t->warps) {
        trace.requests = (Request *)reserve((32 * maxOpen + 1) * sizeof(Request));
        trace.end = trace.requests;
    }
    if (modelsCache) t->kept = (uint64_t *)reserve(keptHashes * sizeof(uint64_t));
    return t;
}

void startTrace(Worker *w, Fiber *f) {
    f->next = f->counted = w->traffic->warps[f->warp].requests;
    f->open = 0;
    f->full = false;
}

void recordElsewhere(Worker *w, Addr a, unsigned n, Op op, bool shared, Addr key) {
    Fiber *f = w->current;
    Trace &t = w->traffic->warps[f->warp];
    Request *r = f->next;
    bool follows = r < t.end && r->key == key && !(r->mask >> f->lane & 1);
    // Where a lane's requests are all there are, the next is new.
    if (r == t.end && f->open == t.count())
        r = append(w->traffic, t, key, n, op, shared);
    else if (!follows)
        r = find(w->traffic, t, f, key, n, op, shared);
    if (!r) return overfull(w, Table::Sites);
    f->next = r + 1;
    add(*r, t.irregular, f->lane, a);
    countOpen(w, f);
}

// makeRoom waits until the other lanes of the warp have come as far (or wait
// for something else), and counts what is open.
void makeRoom(Worker *w) {
    yieldThread(w);
    if (w->current->full) flushWarp(w, w->current->warp);
}

void flushWarp(Worker *w, int warp) {
    Traffic *traffic = w->traffic;
    Trace &t = traffic->warps[warp];
    if (UNLIKELY(w->exited != 0)) watchSkips(w, warp, t);
    for (const Request *r = t.requests; r < t.end; r++) {
        if (!traffic->sites[r->site].shared) traffic->when = ++traffic->passed[warp];
        countRequest(traffic, t, *r);
    }
    if (UNLIKELY(w->samples != nullptr))
        for (const Request *r = t.requests; r < t.end; r++) sampleRequest(w, warp, t, *r);
    t.end = t.requests;
    t.end->mask = ~0u;
    t.irregular.clear();
    if (t.indexed)
        for (auto &p : t.positions) p.clear();
    t.indexed = 0;
    Fiber *first = w->fibers + warp * 32;
    for (uint32_t lane = 0; lane < w->warps[warp].lanes; lane++) {
        Fiber *f = first + lane;
        if (f->counted != t.requests)
            memset(f->occurrence, 0, traffic->sites.size() * sizeof(uint32_t));
        startTrace(w, f);
    }
    w->attention &= ~TraceFull;
    if (w->current->full) w->attention |= TraceFull;
}

void countBulk(Worker *w, Addr a, uint64_t bytes, Op op, bool shared, Addr pc) {
    uint32_t site = siteOf(w->traffic, keyOf(pc, 16, op, shared), 16, op, shared);
    if (site == maxSites)
        overfull(w, Table::Sites);
    else
        countRange(w->traffic, w->traffic->sites[site], a, bytes);
    if (UNLIKELY(w->samples != nullptr) && !shared) sampleRange(w, a, bytes, op);
}

void flushOpen(Worker *w) {
    for (int i = 0; i * 32 < w->threads; i++) flushWarp(w, i);
}

} // namespace simt
