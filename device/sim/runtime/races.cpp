// races.cpp - the race detector within a block, and what it notes for the judgement
// between blocks (between.cpp).
#include "races.h"

#include <algorithm>
#include <cstring>

#include "cluster.h"
#include "hopper.h"
#include "releases.h"

namespace simt {

namespace {
// pend returns the write that is under way.
PendingWrite &pend(Worker *w) {
    PendingWrite &p = w->pending;
    if (!(w->attention & PendingValue)) {
        w->attention |= PendingValue;
        p.conflicts = false;
        p.seen = nullptr;
    }
    return p;
}

COLD void reportRace(Worker *w, int thread, Addr a, unsigned n, Op op, Addr pc, const Access &other,
                     Op otherOp, bool readFirst = false) {
    Addr otherPc = w->codeBase + other.pc;
    // Where a block is one warp, it is chance, and says nothing of the kernel.
    bool oneWarp = w->threads > 32 && (unsigned)thread / 32 == other.thread() / 32u;
    if (seenBefore(w, "race", pc, otherPc, a, oneWarp)) return;
    Finding f = accessFinding("racecheck", "race", pc, op, n, describe(w, a));
    f.at = a;
    f.readFirst = readFirst;
    f.oneWarp = oneWarp;
    f.thread = thread;
    f.otherPc = otherPc;
    f.otherOp = otherOp;
    f.otherThread = (int)other.thread();
    f.otherBlock = w->blockIndex;
    if (w->usesHopper && other.thread() >= firstEngine(w))
        explainEngine(w, other.thread(), f);
    else if (w->usesHopper && w->shared->holds(a))
        explainPending(w, a, f);
    report(w, f);
}

// Two writes of one value do no harm, and the new value is not there yet when
// the hook runs: such a pair waits until the next access.
COLD void settlePending(Worker *w) {
    PendingWrite &p = w->pending;
    w->attention &= ~PendingValue;
    if (p.seen) memcpy(&p.seen->value, (void *)p.seenAt, 4);
    if (p.conflicts && memcmp((void *)p.a, p.old, p.n) != 0)
        reportRace(w, p.thread, p.a, p.n, WRITE, p.pc, p.other, p.other.atomic() ? ATOMIC : WRITE,
                   p.readFirst);
}

COLD void writeAfterWrite(Worker *w, Addr a, unsigned n, Addr pc, const Cell &c) {
    PendingWrite &p = pend(w);
    if (p.conflicts) return;
    p.conflicts = true;
    p.thread = w->current->id;
    p.a = a;
    p.pc = pc;
    p.n = n > 16 ? 16 : n;
    p.other = c.write;
    p.readFirst = false;
    for (const Access *r : {&c.read1, &c.read2})
        if (r->epoch == w->epoch && (int)r->thread() == p.thread) p.readFirst = true;
    memcpy(p.old, (void *)a, p.n);
}

// unordered tells whether nothing orders an earlier access of this block and
// this thread's next one.
inline bool unordered(Worker *w, const Access &x, unsigned mask) {
    if (LIKELY(x.epoch != w->epoch)) return false;
    Fiber *me = w->current;
    if (x.thread() == me->id || !(x.mask() & mask)) return false;
    // There may be a __syncwarp in between, or a barrier of some threads.
    if (x.warp() != me->warp) return !knows(w, me, x);
    return w->warps[me->warp].known[me->lane][x.thread() & 31] <= x.clock;
}

// withEarlier adds the bytes of the same word that the same thread has written just before.
inline Access withEarlier(const Access &last, Access now) {
    constexpr uint16_t bytes = 15 << Access::maskShift;
    if (last.epoch == now.epoch && last.clock == now.clock &&
        (last.who & ~bytes) == (now.who & ~bytes))
        now.who |= last.who & bytes;
    return now;
}

// remember keeps a reader: the first of the interval, and the last other one.
inline void remember(Worker *w, Cell *c, const Access &now) {
    Access *slot = &c->read1;
    if (slot->epoch == w->epoch && slot->thread() != now.thread()) slot = &c->read2;
    bool again = slot->epoch == now.epoch && slot->thread() == now.thread();
    unsigned before = again ? slot->mask() : 0;
    *slot = now;
    slot->who |= (uint16_t)(before << Access::maskShift);
}

// keep enters an access among the first two blocks'; it returns the entry if
// it is new.
Seen *keep(Seen *slots, int count, const Seen &now) {
    for (int i = 0; i < count; i++) {
        if (slots[i].stamp == now.stamp) {
            slots[i].mask |= now.mask;
            return nullptr;
        }
        if (slots[i].stamp < firstStamp) {
            slots[i] = now;
            return &slots[i];
        }
    }
    return nullptr;
}

// phaseOf counts the barriers of the cluster that the thread has come to, and those it has left.
unsigned phaseOf(const Worker *w) {
    const Fiber *f = w->current;
    if (!w->cluster) return 0;
    return f->clusterLearned
               ? lastPhase
               : (unsigned)std::min<uint64_t>(lastPhase, f->clusterArrived + f->clusterWaited);
}

void noteBetween(Worker *w, Region *r, Addr word, unsigned mask, Op op, Addr pc) {
    size_t index = (word - r->lo) >> 2;
    Between &b = r->between[index];
    Seen *slots = op == READ ? b.read : op == WRITE ? b.write : b.atomic;
    constexpr int count = 2;
    if (knownBetween(w, slots, count, mask)) return;
    uint32_t page = (uint32_t)((word - r->lo) >> pageShift);
    if (!r->touched[page]) {
        r->touched[page] = 1;
        r->pages.push_back(page);
    }
    Seen now = {w->stamp,
                (uint32_t)(pc - w->codeBase),
                0,
                w->current->id,
                intervalOf(w),
                w->current->clock,
                (uint16_t)(mask & 15),
                (uint16_t)((w->synchronised | phaseOf(w) << 1) & 4095)};
    if (w->cluster && !w->current->clusterLearned && now.phase() == lastPhase)
        overfull(w, Table::Clusters);
    Seen *fresh = keep(slots, count, now);
    if (!fresh || op != WRITE) return;
    // The value is there when the write is done. Only the first word of a wide write
    // waits for it; the others get a value that equals no other block's.
    PendingWrite &p = pend(w);
    if (p.seen) {
        fresh->value = w->stamp;
        return;
    }
    p.seen = fresh;
    p.seenAt = word;
}

} // namespace

void settleWrites(Worker *w) {
    if (w->attention & PendingValue) settlePending(w);
}

void checkRace(Worker *w, Region *r, Addr a, unsigned n, Op op, Addr pc) {
    Addr end = a + n;
    int me = w->current->id;
    for (Addr word = a & ~(Addr)3; word < end; word += 4) {
        unsigned mask = 0xF;
        if (word < a) mask &= 0xF << (a - word);
        if (word + 4 > end) mask &= 0xF >> (word + 4 - end);
        if (op == READ && mask == 0xF && wordRead(w, r, word, pc)) continue;
        if (op == WRITE && mask == 0xF && wordWrite(w, r, word, pc)) continue;
        size_t i = (word - r->lo) >> 2;
        Cell *c = r->cells + i;
        if (r->between) noteBetween(w, r, word, mask, op, pc);
        if (!(op == ATOMIC && c->write.atomic()) && UNLIKELY(unordered(w, c->write, mask))) {
            if (op == WRITE)
                writeAfterWrite(w, a, n, pc, *c);
            else
                reportRace(w, me, a, n, op, pc, c->write, c->write.atomic() ? ATOMIC : WRITE);
        }
        if (op == READ) {
            if (!convicts(w, c))
                remember(w, c, accessOf(w, mask, op, pc));
            else if (c->write.epoch != w->epoch)
                r->settled[i] = w->epoch;
            continue;
        }
        for (Access *reader : {&c->read1, &c->read2})
            if (UNLIKELY(unordered(w, *reader, mask)))
                reportRace(w, me, a, n, op, pc, *reader, READ);
        c->write = withEarlier(c->write, accessOf(w, mask, op, pc));
        r->settled[i] = 0;
        // Where barriers of some threads order things within an interval, whoever comes later
        // has to be after this write, and so after these readers.
        if (w->order && mask == 15) c->read1.epoch = c->read2.epoch = 0;
    }
}

void recordRace(Worker *w, Region *r, Addr a, unsigned n, Op op, Addr pc) {
    settleWrites(w);
    checkRace(w, r, a, n, op, pc);
}

} // namespace simt
