// distributed.cpp - shared memory of a cluster's other blocks: where it is, whether they have begun
// and are still there, and races across blocks. See cluster.h.
#include <algorithm>

#include "access.h"
#include "cluster.h"
#include "hopper.h"

namespace simt {

Worker *neighbourAt(const Worker *w, Addr a) {
    if (!w->cluster) return nullptr;
    for (unsigned r = 0; r < w->cluster->blocks; r++) {
        Worker *o = w->cluster->members[r].w;
        if (o != w && o->shared->holds(a)) return o;
    }
    return nullptr;
}

namespace {
Member &memberOf(const Worker *w) {
    return w->cluster->members[w->rank];
}

// A thread that has arrived at the barrier of the cluster, and not yet waited, has told what came
// before.
Clock clockOf(const Worker *w) {
    const Fiber *f = w->current;
    bool between = f->clusterArrived > w->cluster->phase;
    return (Clock)std::min<unsigned>(0xffff, memberOf(w).clock + between);
}

// clashes tells whether nothing orders an earlier access and one by the running thread.
bool clashes(const Worker *w, const Worker *owner, const CrossAccess &x, unsigned mask, Op op) {
    if (!x.clock || !(x.access.mask() & mask)) return false;
    if (x.op == ATOMIC && op == ATOMIC) return false;
    if (x.rank != w->rank) return clusterRow(w, w->current)[x.rank] < x.clock;
    // A block's accesses to its own memory are judged there (races.cpp).
    return owner != w && !before(w, w->current, x.access);
}

COLD void reportCross(Worker *w, Addr a, unsigned n, Op op, Addr pc, const CrossAccess &x) {
    Addr otherPc = w->codeBase + x.access.pc;
    if (seenBefore(w, "race", pc, otherPc)) return;
    Finding f = accessFinding("racecheck", "race", pc, op, n, describe(w, a));
    f.otherPc = otherPc;
    f.otherOp = (Op)x.op;
    f.otherThread = (int)x.access.thread();
    f.otherBlock = w->cluster->members[x.rank].w->blockIndex;
    f.text = "both are of one cluster, and no barrier of the cluster, nor an mbarrier, orders them";
    report(w, f);
}

void remember(CrossCell &c, const CrossAccess &now) {
    if (now.op != READ) {
        c.write = now;
        if (now.access.mask() == 15) c.read[0].clock = c.read[1].clock = 0;
        return;
    }
    CrossAccess &first = c.read[0];
    (!first.clock || first.rank == now.rank ? first : c.read[1]) = now;
}

COLD void tellVisit(Worker *w, const char *kind, const Visit &v, int otherLine) {
    Finding f = accessFinding("racecheck", kind, v.pc, v.op, v.bytes, describe(w, v.at));
    f.thread = v.thread;
    f.line = v.line;
    f.otherLine = otherLine;
    report(w, f);
}
} // namespace

void checkCross(Worker *w, Worker *owner, Addr a, unsigned n, Op op, Addr pc) {
    Region *r = owner->shared;
    Addr end = a + n;
    Clock clock = clockOf(w);
    bool told = false;
    for (Addr word = a & ~(Addr)3; word < end; word += 4) {
        unsigned mask = 0xF;
        if (word < a) mask &= 0xF << (a - word);
        if (word + 4 > end) mask &= 0xF >> (word + 4 - end);
        CrossCell &c = r->cross[(word - r->lo) >> 2];
        for (const CrossAccess *x : {&c.write, &c.read[0], &c.read[1]}) {
            if (told || (op == READ && x != &c.write)) break;
            if (UNLIKELY(clashes(w, owner, *x, mask, op)))
                reportCross(w, a, n, op, pc, *x), told = true;
        }
        remember(c, {accessOf(w, mask, op, pc), clock, (uint8_t)w->rank, (uint8_t)op});
    }
}

bool visit(Worker *w, Worker *owner, Addr a, unsigned n, Op op, Addr pc, int line) {
    Member &m = memberOf(owner);
    if (!(w->checks & RACE)) return true;
    Visit now = {pc, a, n, op, w->current->id, line, clockOf(w)};
    if (!clusterRow(w, w->current)[owner->rank])
        tellVisit(w, "not begun", now, 0);
    else if (m.done)
        tellVisit(w, "may have ended", now, m.metIn);
    else {
        m.visits[w->rank] = now;
        return true;
    }
    return false;
}

void checkLeft(Worker *w) {
    Member &m = memberOf(w);
    for (unsigned r = 0; r < w->cluster->blocks; r++) {
        const Visit &v = m.visits[r];
        if (!v.clock || m.known[r] >= v.clock) continue;
        tellVisit(w->cluster->members[r].w, "may have ended", v, m.metIn);
    }
}

void tellCluster(Worker *w, Fiber *f, Worker *owner, std::vector<Clock> &into) {
    into.resize(orderWidth(owner));
    Clock *to = into.data() + firstEngine(owner) + engineClocks;
    const Clock *row = clusterRow(w, f);
    for (unsigned r = 0; r < w->cluster->blocks; r++) to[r] = std::max(to[r], row[r]);
    fenceCluster(w, f);
    to[w->rank] = std::max(to[w->rank], f->clusterFenced);
}

void shareCluster(Worker *w) {
    Clock all[mostBlocks] = {};
    for (int i = 0; i < w->threads; i++)
        for (unsigned r = 0; r < mostBlocks; r++)
            all[r] = std::max(all[r], clusterRow(w, &w->fibers[i])[r]);
    for (int i = 0; i < w->threads; i++)
        std::copy(all, all + mostBlocks, clusterRow(w, &w->fibers[i]));
}

// What the thread did before is told by whatever it says next, however relaxed.
void fenceCluster(Worker *w, Fiber *f) {
    Clock &clock = memberOf(w).clock;
    f->clusterFenced = clock;
    if (clock < lastClock)
        clock++;
    else
        overfull(w, Table::Clusters);
}

} // namespace simt

using namespace simt;

namespace {
constexpr unsigned rankShift = 24;

[[noreturn]] void badRank(Worker *w, unsigned rank, int line) {
    refuseHopper(w, "bad rank", line,
                 "block " + std::to_string(rank) + " of a cluster of " +
                     std::to_string(w->cluster ? w->cluster->blocks : 1) + ": ranks begin at 0");
}
} // namespace

extern "C" {

// The same place in the shared memory of the block with that rank.
void *simt_map_shared(const void *p, unsigned rank, int line) {
    Worker *w = worker, *from = ownerOf(w, (Addr)p);
    if (rank >= (w->cluster ? w->cluster->blocks : 1)) badRank(w, rank, line);
    if (!from->shared->holds((Addr)p))
        refuseHopper(w, "bad rank", line,
                     "an address that is not in shared memory has no place in another block's");
    if (!w->cluster) return (void *)p;
    return (void *)((Addr)p - from->shared->lo + w->cluster->members[rank].w->shared->lo);
}

unsigned simt_shared_rank(const void *p, int line) {
    Worker *w = worker, *o = ownerOf(w, (Addr)p);
    if (!o->shared->holds((Addr)p))
        refuseHopper(w, "bad rank", line, "an address that is in no shared memory has no rank");
    return o->cluster ? o->rank : 0;
}

// Addresses of 32 bits in the window of the cluster have the rank above the offset, plus one: so
// plain offsets are the block's own.
long long simt_shared_offset(const void *p) {
    Worker *w = worker;
    Addr a = (Addr)p;
    if (w->shared->holds(a)) return (long long)(a - windowOf(w));
    const Worker *o = neighbourAt(w, a);
    return o ? (long long)(a - windowOf(o)) | (long long)(o->rank + 1) << rankShift : -1;
}

void *simt_shared_address(unsigned long long offset) {
    Worker *w = worker;
    unsigned rank = (unsigned)(offset >> rankShift & 255);
    if (!rank || !w->cluster || rank > w->cluster->blocks) return (void *)(windowOf(w) + offset);
    const Worker *o = w->cluster->members[rank - 1].w;
    return (void *)(windowOf(o) + (offset & ((1u << rankShift) - 1)));
}

unsigned simt_map_offset(unsigned offset, unsigned rank, int line) {
    void *p = simt_map_shared(simt_shared_address(offset), rank, line);
    return (unsigned)simt_shared_offset(p);
}
}
