// bulk.cpp - the copy engine: pieces of memory to and from shared memory. A copy is checked when it
// is asked for, as an access of the thread that asks, and made when somebody waits for it. Until
// then what it fills holds NaN and counts as pending; what it sends is compared with what was
// there.
#include <cstring>

#include "bulk.h"
#include "cluster.h"

namespace simt {

// A swizzle permutes the 16-byte chunks of a line by the address bits above.
Addr swizzled(Addr a, unsigned bytes) {
    return bytes == 0 ? a : a ^ ((a >> 7 & (bytes / 16 - 1)) << 4);
}

namespace {
uint8_t *stateAt(Worker *w, Addr a) {
    return w->shared->state + (a - w->shared->lo);
}

// A tensor's rows may begin anywhere.
void checkGlobal(Addr a, uint64_t n, Op op, Addr pc) {
    for (; n >= 16 && a % 16 == 0; a += 16, n -= 16) checkUncounted(a, 16, op, pc);
    while (n) {
        unsigned piece = a % 16 == 0 && n >= 16 ? 16 : a % 4 == 0 && n >= 4 ? 4 : 1;
        checkUncounted(a, piece, op, pc);
        a += piece, n -= piece;
    }
}

// lineOfPending is where a copy was asked for that has yet to fill this memory; 0 for cp.async.
int lineOfPending(const Worker *owner, Addr a) {
    for (auto &[at, b] : owner->hopper->barriers)
        for (const BulkCopy &c : b->copies)
            if (a - c.to < c.bytes) return c.line;
    return 0;
}

// checkTarget is for shared memory that a copy will fill, of a block of the cluster.
void checkTarget(Worker *w, Worker *owner, const BulkCopy &c, Addr to) {
    for (Addr a = to; a < to + c.bytes; a += 16) {
        checkUncounted(a, 16, WRITE, c.pc);
        if (UNLIKELY(*stateAt(owner, a) & PENDING) && !seenBefore(w, "two copies", c.pc, 0)) {
            Finding f = accessFinding("racecheck", "two copies", c.pc, WRITE, 16, describe(w, a));
            f.otherLine = lineOfPending(owner, a);
            report(w, f);
        }
        uint8_t *s = stateAt(owner, a);
        for (int i = 0; i < 16; i++) s[i] = (s[i] & ~INITIALISED) | PENDING;
    }
    memset((void *)to, 0xff, c.bytes);
}

// entered is the copy engine's own write, at the end of the copy.
void entered(Worker *w, const BulkCopy &c, const Barrier &b, Addr a) {
    Region *r = w->shared;
    uint8_t *s = stateAt(w, a);
    for (int i = 0; i < 16; i++) s[i] = (s[i] & ~PENDING) | INITIALISED;
    w->hopper->swizzles[chunkOf(w, a)] = (uint8_t)(1 + c.swizzle / 32);
    if (!(w->checks & RACE)) return;
    // Of an mbarrier beyond the last that has a clock, nothing is known: better a race that is not
    // found than one that is none.
    const Access write = {b.engine ? w->epoch : 0, (uint32_t)(c.pc - w->codeBase),
                          (uint16_t)(b.engine | 15 << Access::maskShift), (Clock)b.phase};
    size_t cell = (a - r->lo) >> 2;
    for (size_t i = cell; i < cell + 4; i++) {
        r->cells[i].write = write;
        r->cells[i].read1.epoch = r->cells[i].read2.epoch = 0;
        r->settled[i] = 0;
    }
}

// move copies a piece whose end in shared memory is swizzled, chunk by chunk.
void move(const Piece &p, unsigned swizzle, bool loads) {
    Addr inShared = loads ? p.to : p.from, outside = loads ? p.from : p.to;
    for (uint32_t done = 0; done < p.bytes;) {
        uint32_t n = std::min<uint32_t>(p.bytes - done, 16 - (inShared + done) % 16);
        char *here = (char *)swizzled(inShared + done, swizzle);
        if (!loads)
            memcpy((char *)outside + done, here, n);
        else if (outside)
            memcpy(here, (char *)outside + done, n);
        else
            memset(here, 0, n);
        done += n;
    }
}

void checkEnds(const Worker *owner, const char *what, Addr shared, uint64_t bytes,
               unsigned multiple, int line) {
    if (!owner->shared->holds(shared) || !owner->shared->holds(shared + bytes - 1))
        refuseHopper(worker, "bad bulk copy", line,
                     std::string(what) + ": its address is not in shared memory");
    if (shared % multiple)
        refuseHopper(worker, "bad bulk copy", line,
                     std::string(what) + ": its address in shared memory has to be a multiple of " +
                         std::to_string(multiple) + ", it is " + std::to_string(shared % multiple) +
                         " bytes off");
}

// A piece without a source brings zeros, so a null pointer must not become one.
void needMultiple(Worker *w, uint64_t bytes, Addr global, int line) {
    if (!global)
        refuseHopper(w, "bad bulk copy", line,
                     "cp.async.bulk: the address in device memory is a null pointer");
    if (bytes == 0 || bytes % 16 || global % 16)
        refuseHopper(w, "bad bulk copy", line,
                     "cp.async.bulk: the bytes (here " + std::to_string(bytes) +
                         ") and the address in device memory (" + std::to_string(global % 16) +
                         " off) have to be multiples of 16");
}
} // namespace

void askForLoad(Worker *w, BulkCopy c, Addr to, Addr barrier, unsigned multiple, const char *what) {
    Worker *owner = ownerOf(w, to);
    checkEnds(owner, what, to, c.bytes, multiple, c.line);
    Barrier &b = barrierAt(w, barrier, c.line, what);
    if (b.owner != owner)
        refuseHopper(w, "bad bulk copy", c.line,
                     std::string(what) +
                         ": its mbarrier has to be in the block to which it copies");
    if (!b.fenced && (w->checks & RACE)) {
        b.fenced = true;
        reportHopper(w, "racecheck", "no proxy fence", c.line, b.madeIn,
                     std::string(what) +
                         ": the copy engine uses an mbarrier that was initialised "
                         "in line " +
                         std::to_string(b.madeIn) +
                         " without fence.mbarrier_init or fence.proxy.async behind it");
    }
    for (const Piece &p : c.pieces) {
        if (!p.from || c.again || !c.sent.empty()) continue; // zeros; or checked before
        checkGlobal(p.from, p.bytes, READ, c.pc);
        if (w->checks & TRAFFIC) countBulk(w, p.from, p.bytes, READ, false, c.pc);
    }
    checkTarget(w, owner, c, to);
    if (w->checks & TRAFFIC) countBulk(w, to, c.bytes, WRITE, true, c.pc - 1);
    c.phase = b.phase;
    c.thread = b.asker = w->current->id;
    c.block = w->blockIndex;
    c.to = to;
    b.copies.push_back(std::move(c));
    owner->hopper->progress++;
    if (owner != w) { // who waits for the copy knows of it
        b.remote = true;
        tellCluster(w, w->current, owner, b.gathering);
    }
    // Somebody who waits already is served at once.
    if (!b.waiting.empty()) deliver(b);
}

void askForAll(Worker *w, BulkCopy &c, Addr to, Addr barrier, unsigned multiple, unsigned blocks,
               const char *what) {
    if (!blocks) return askForLoad(w, std::move(c), to, barrier, multiple, what);
    unsigned there = w->cluster ? w->cluster->blocks : 1;
    if (blocks >> there)
        refuseHopper(w, "bad rank", c.line,
                     std::string(what) + ": its mask has bit " +
                         std::to_string(31 - __builtin_clz(blocks)) +
                         ", for a block of a cluster of " + std::to_string(there));
    for (unsigned r = 0; r < there; r++) {
        if (!(blocks >> r & 1)) continue;
        Addr away = w->cluster ? w->cluster->members[r].w->shared->lo - w->shared->lo : 0;
        BulkCopy one = c;
        for (Piece &p : one.pieces) p.to += away;
        c.again = true; // it is read from device memory once for all
        askForLoad(w, std::move(one), to + away, barrier + away, multiple, what);
    }
}

void perform(Worker *w, BulkCopy &c, Barrier &b) {
    if (!c.sent.empty() && memcmp((void *)c.pieces[0].from, c.sent.data(), c.bytes)) {
        Finding f = accessFinding("racecheck", "changed on its way", c.pc, READ, 16,
                                  describe(worker, c.pieces[0].from));
        f.thread = c.thread;
        report(worker, f);
    }
    for (const Piece &p : c.pieces) move(p, c.swizzle, true);
    for (Addr a = c.to; a < c.to + c.bytes; a += 16) entered(w, c, b, a);
}

void askForStore(Worker *w, BulkCopy &c, Addr from, unsigned multiple, const char *what) {
    checkEnds(w, what, from, c.bytes, multiple, c.line);
    ThreadState &t = stateOf(w, w->current);
    for (Addr a = from; a < from + c.bytes; a += 16) checkUncounted(a, 16, READ, c.pc);
    checkHandedOver(w, from, (unsigned)c.bytes, c.pc, what);
    if (w->checks & TRAFFIC) {
        countBulk(w, from, c.bytes, READ, true, c.pc - 1);
        for (const Piece &p : c.pieces) countBulk(w, p.to, p.bytes, WRITE, false, c.pc);
    }
    c.to = from;
    c.sent.assign((const char *)from, (const char *)from + c.bytes);
    t.stores.push_back(std::move(c));
    t.storeGroups.push_back(t.group);
}

void finishStores(Worker *w, Fiber *f, uint64_t groupsLeft) {
    ThreadState &t = stateOf(w, f);
    size_t done = 0;
    for (; done < t.stores.size() && t.storeGroups[done] + groupsLeft < t.group; done++) {
        BulkCopy &c = t.stores[done];
        if ((w->checks & RACE) && memcmp((void *)c.to, c.sent.data(), c.bytes)) {
            Addr a = c.to;
            while (!memcmp((void *)a, c.sent.data() + (a - c.to), 16)) a += 16;
            Finding x =
                accessFinding("racecheck", "changed on its way", c.pc, READ, 16, describe(w, a));
            const Access &other = w->shared->cells[(a - w->shared->lo) >> 2].write;
            x.otherPc = w->codeBase + other.pc;
            x.otherOp = WRITE;
            x.otherThread = std::min((int)other.thread(), w->threads - 1);
            x.otherBlock = w->blockIndex;
            report(w, x);
        }
        for (Addr a = c.to; a < c.to + c.bytes; a += 16) checkUncounted(a, 16, READ, c.pc);
        for (const Piece &p : c.pieces) {
            checkGlobal(p.to, p.bytes, WRITE, c.pc);
            move(p, c.swizzle, false);
        }
    }
    t.stores.erase(t.stores.begin(), t.stores.begin() + (long)done);
    t.storeGroups.erase(t.storeGroups.begin(), t.storeGroups.begin() + (long)done);
}

} // namespace simt

using namespace simt;

extern "C" {

void simt_bulk_load(void *to, const void *from, unsigned bytes, void *barrier, unsigned blocks,
                    int line) {
    Worker *w = worker;
    needMultiple(w, bytes, (Addr)from, line);
    BulkCopy c;
    c.pieces.push_back({(Addr)from, (Addr)to, bytes});
    c.bytes = bytes;
    c.line = line;
    c.pc = (Addr)__builtin_return_address(0);
    askForAll(w, c, (Addr)to, (Addr)barrier, 16, blocks, "cp.async.bulk");
}

// From the block's own shared memory to that of a block of the cluster.
void simt_bulk_send(void *to, const void *from, unsigned bytes, void *barrier, int line) {
    Worker *w = worker;
    Addr a = (Addr)from;
    if (!bytes || bytes % 16)
        refuseHopper(w, "bad bulk copy", line,
                     "cp.async.bulk: the bytes have to be a multiple of 16, not " +
                         std::to_string(bytes));
    checkEnds(w, "cp.async.bulk", a, bytes, 16, line);
    BulkCopy c;
    c.pieces.push_back({a, (Addr)to, bytes});
    c.bytes = bytes;
    c.line = line;
    c.pc = (Addr)__builtin_return_address(0);
    for (Addr at = a; at < a + bytes; at += 16) checkUncounted(at, 16, READ, c.pc);
    hopperOf(w);
    checkHandedOver(w, a, bytes, c.pc, "cp.async.bulk");
    if (w->checks & TRAFFIC) countBulk(w, a, bytes, READ, true, c.pc - 2);
    c.sent.assign((const char *)from, (const char *)from + bytes);
    askForLoad(w, std::move(c), (Addr)to, (Addr)barrier, 16, "cp.async.bulk");
}

// st.async: a store whose bytes an mbarrier of the same block counts.
void simt_store_async(void *to, const void *value, unsigned bytes, void *barrier, int line) {
    Worker *w = worker;
    Barrier &b = barrierAt(w, (Addr)barrier, line, "st.async");
    if (b.owner != ownerOf(w, (Addr)to) || !b.owner->shared->holds((Addr)to))
        refuseHopper(w, "bad bulk copy", line,
                     "st.async: its mbarrier has to be in the block to which it stores");
    checkAccess((Addr)to, bytes, WRITE, (Addr)__builtin_return_address(0));
    memcpy(to, value, bytes);
    if (b.owner != w) b.remote = true, tellCluster(w, w->current, b.owner, b.gathering);
    complete(b, bytes);
}

void simt_bulk_store(void *to, const void *from, unsigned bytes, int line) {
    Worker *w = worker;
    needMultiple(w, bytes, (Addr)to, line);
    BulkCopy c;
    c.pieces.push_back({(Addr)from, (Addr)to, bytes});
    c.bytes = bytes;
    c.line = line;
    c.pc = (Addr)__builtin_return_address(0);
    askForStore(w, c, (Addr)from, 16, "cp.async.bulk");
}

void simt_bulk_commit() {
    stateOf(worker, worker->current).group++;
}

void simt_bulk_wait(unsigned long long groupsLeft) {
    finishStores(worker, worker->current, groupsLeft);
}
}
