// mbarrier.cpp - barriers in shared memory: phases, arrivals, bytes, and waiting for a phase.
#include <algorithm>
#include <cstring>

#include "cluster.h"
#include "hopper.h"
#include "overtaken.h"

namespace simt {

namespace {
std::string nameOf(Worker *w, const Barrier &b) {
    Place p = describe(w, b.at);
    return p.name.empty() ? "shared memory" : p.name + " + " + std::to_string(p.offset);
}

void wake(Worker *w, Barrier &b) {
    Hopper &h = *w->hopper;
    std::vector<uint16_t> still;
    for (uint16_t t : b.waiting) {
        const ThreadState &s = h.threads[t];
        if (s.byParity ? (b.phase & 1) == s.waits : b.phase <= s.waits) {
            still.push_back(t);
            continue;
        }
        w->fibers[t].wait = Wait::None;
        push(w, t);
    }
    b.waiting.swap(still);
}

// settle ends the phase if all is there.
void settle(Barrier &b) {
    Worker *w = b.owner;
    while (b.left == 0 && b.bytes == 0) {
        if (!b.copies.empty() && (w->checks & SYNC)) {
            uint64_t more = 0;
            for (const BulkCopy &c : b.copies) more += c.bytes;
            reportHopper(w, "synccheck", "transaction bytes",
                         b.announcedIn ? b.announcedIn : b.copies[0].line, b.copies[0].line,
                         "an mbarrier's phase is over after " + std::to_string(b.brought) +
                             " bytes, as announced, but copies asked for in line " +
                             std::to_string(b.copies[0].line) + " have " + std::to_string(more) +
                             " bytes yet to bring");
        }
        b.known.resize(orderWidth(w));
        b.gathering.resize(orderWidth(w));
        for (size_t i = 0; i < b.known.size(); i++) {
            b.known[i] = std::max(b.known[i], b.gathering[i]);
            b.gathering[i] = 0;
        }
        b.phase++;
        if (b.engine) b.known[b.engine] = (Clock)b.phase;
        b.left = b.count;
        b.announced = b.brought = 0;
        wake(w, b);
    }
    w->hopper->progress++;
}

bool over(const Barrier &b, uint64_t want, bool byParity) {
    return byParity ? (b.phase & 1) != want : b.phase > want;
}

void announce(Worker *w, Barrier &b, uint64_t bytes, int line) {
    constexpr int64_t most = (1 << 20) - 1;
    b.bytes += (int64_t)bytes;
    b.announced += bytes;
    b.announcedIn = line;
    if ((int64_t)bytes > most || b.bytes > most)
        refuseHopper(w, "transaction bytes", line,
                     "an mbarrier counts up to " + std::to_string(most) + " bytes a phase, not " +
                         std::to_string(b.bytes));
}

void arrive(Worker *w, Barrier &b, uint32_t arrivals, int line) {
    if (arrivals > b.left) {
        if (w->checks & SYNC)
            reportHopper(w, "synccheck", "too many arrivals", line, b.madeIn,
                         "more arrivals at an mbarrier than its " + std::to_string(b.count) +
                             ", as line " + std::to_string(b.madeIn) +
                             " initialised it, in one phase");
        arrivals = b.left;
    }
    b.left -= arrivals;
    settle(b);
}
// tellTo lets those who will wait know what the running thread knows.
void tellTo(Worker *w, Barrier &b) {
    if (b.owner == w) return tell(w, w->current, b.gathering);
    b.remote = true;
    tellCluster(w, w->current, b.owner, b.gathering);
}
} // namespace

Barrier &barrierAt(Worker *w, Addr a, int line, const char *what) {
    Worker *owner = ownerOf(w, a);
    if (owner != w && (w->checks & RACE)) visit(w, owner, a, 8, ATOMIC, 0, line);
    Hopper &h = hopperOf(owner);
    auto it = h.barriers.find(a);
    if (UNLIKELY(it == h.barriers.end()))
        refuseHopper(w, "no mbarrier", line,
                     std::string(what) + ": " +
                         (owner->shared->holds(a) ? "no mbarrier.init has been done on this address"
                                                  : "the address is not in shared memory"));
    Barrier &b = *it->second;
    bool known = owner == w ? before(w, w->current, b.made)
                            : clusterRow(w, w->current)[owner->rank] >= b.madeClock;
    if (UNLIKELY((w->checks & RACE) && !known)) {
        reportHopper(w, "racecheck", "race", line, b.madeIn,
                     threadName(*w->current) + " uses an mbarrier that " +
                         threadName(owner->fibers[b.made.thread()]) +
                         (owner == w ? "" : " of another block") + " initialised in line " +
                         std::to_string(b.madeIn) + ", with no barrier between them");
        b.made.epoch = b.madeClock = 0;
    }
    return b;
}

static void addStale(Worker *w, const Barrier &b, Finding &f) {
    int line = b.again[w->current->id];
    if (!line) return;
    f.kind = "stale phase";
    f.line = line;
    f.text = "its wait in line " + std::to_string(line) + " was for phase " +
             std::to_string(b.phase - 1) + ", whose end it had seen before";
}

void explainPending(Worker *w, Addr a, Finding &f) {
    for (auto &[at, b] : w->hopper->barriers)
        for (const BulkCopy &c : b->copies) {
            if (a - c.to >= c.bytes || f.op != READ) continue;
            f.otherPc = c.pc;
            f.otherOp = WRITE;
            f.otherThread = c.thread;
            f.otherBlock = c.block;
            return addStale(w, *b, f);
        }
}

void explainEngine(Worker *w, unsigned engine, Finding &f) {
    for (auto &[at, b] : w->hopper->barriers)
        if (b->engine == engine) {
            f.otherThread = b->asker;
            f.text =
                "the copy is there when its mbarrier says so: who uses it has to wait for that";
            return addStale(w, *b, f);
        }
    const unsigned first = firstEngine(w) + barrierClocks; // of warpgroups
    f.otherThread = engine >= first ? (int)(engine - first) * 128 : 0;
}

void complete(Barrier &b, uint64_t bytes) {
    b.bytes -= (int64_t)bytes;
    b.brought += bytes;
    settle(b);
}

// Copies are made as late as can be: when somebody waits for them.
void deliver(Barrier &b) {
    while (!b.copies.empty()) {
        BulkCopy c = std::move(b.copies.front());
        b.copies.erase(b.copies.begin());
        perform(b.owner, c, b);
        complete(b, c.bytes);
        if (b.copies.empty() && b.left == 0 && b.bytes < 0)
            refuseHopper(worker, "transaction bytes", b.announcedIn ? b.announcedIn : c.line,
                         "copies brought " + std::to_string(b.brought) +
                             " bytes, the last of them asked for in line " +
                             std::to_string(c.line) + ", but " + std::to_string(b.announced) +
                             " were announced: the phase never ends");
    }
}

} // namespace simt

using namespace simt;

extern "C" {

void simt_mbarrier_init(void *p, unsigned count, int line) {
    Worker *w = worker;
    Addr a = (Addr)p;
    Hopper &h = hopperOf(w);
    if (!w->shared->holds(a) || a % 8)
        refuseHopper(w, "bad mbarrier", line,
                     "mbarrier.init: the barrier has to be 8 bytes in shared memory, at a multiple "
                     "of 8");
    checkAccess(a, 8, WRITE, (Addr)__builtin_return_address(0));
    if (count < 1 || count >= 1 << 20)
        refuseHopper(w, "bad mbarrier", line,
                     "mbarrier.init: it counts 1 to 1048575 arrivals, not " +
                         std::to_string(count));
    std::unique_ptr<Barrier> &b = h.barriers[a];
    if (b && (w->checks & SYNC) && (!b->waiting.empty() || !b->copies.empty()))
        reportHopper(w, "synccheck", "mbarrier in use", line, b->madeIn,
                     "mbarrier.init of a barrier that is in use, since line " +
                         std::to_string(b->madeIn));
    b = std::make_unique<Barrier>();
    b->at = a;
    b->count = b->left = count;
    b->madeIn = line;
    startOrder(w);
    b->made = accessNow(w, (Addr)__builtin_return_address(0));
    b->owner = w;
    if (w->cluster) b->madeClock = w->cluster->members[w->rank].clock;
    b->engine = nextEngine(w);
    b->seen.resize((size_t)w->threads);
    b->again.resize((size_t)w->threads);
    memset(p, 0xff, 8); // nobody is to read it
    memset(w->shared->state + (a - w->shared->lo), LIVE, 8);
}

void simt_mbarrier_inval(void *p, int line) {
    Barrier &b = barrierAt(worker, (Addr)p, line, "mbarrier.inval");
    if ((worker->checks & SYNC) && (!b.waiting.empty() || !b.copies.empty()))
        reportHopper(worker, "synccheck", "mbarrier in use", line, b.madeIn,
                     "mbarrier.inval of a barrier that threads or copies still use");
    worker->hopper->barriers.erase((Addr)p);
}

// The state is the number of the phase.
unsigned long long simt_mbarrier_arrive(void *p, unsigned arrivals, unsigned bytes, int drops,
                                        int line) {
    Worker *w = worker;
    Barrier &b = barrierAt(w, (Addr)p, line, "mbarrier.arrive");
    uint64_t state = b.phase;
    tellTo(w, b);
    if (bytes) announce(w, b, bytes, line);
    if (drops) b.count -= std::min(arrivals, b.count - 1);
    arrive(w, b, arrivals, line);
    readLate(w);
    return state;
}

void simt_mbarrier_expect(void *p, unsigned bytes, int line) {
    Worker *w = worker;
    Barrier &b = barrierAt(w, (Addr)p, line, "mbarrier.expect_tx");
    announce(w, b, bytes, line);
    settle(b);
}

void simt_mbarrier_complete(void *p, unsigned bytes, int line) {
    Worker *w = worker;
    complete(barrierAt(w, (Addr)p, line, "mbarrier.complete_tx"), bytes);
}

unsigned simt_mbarrier_pending(void *p, int line) {
    return barrierAt(worker, (Addr)p, line, "mbarrier.pending_count").left;
}

// wait is try_wait and test_wait: it returns when the phase is over, or when nothing else can run.
int simt_mbarrier_wait(void *p, unsigned long long want, int byParity, int line) {
    Worker *w = worker;
    Fiber *f = w->current;
    Barrier *b = &barrierAt(w, (Addr)p, line, "mbarrier.try_wait");
    if (byParity && want > 1)
        refuseHopper(w, "bad parity", line,
                     "mbarrier.try_wait.parity takes 0 or 1, not " + std::to_string(want));
    if (b->owner != w)
        refuseHopper(
            w, "bad mbarrier", line,
            "mbarrier.try_wait: it is another block's, and a thread waits for those of its "
            "own: let others arrive at yours");
    if (!over(*b, want, byParity)) deliver(*b);
    if (!over(*b, want, byParity)) {
        ThreadState &t = stateOf(w, f);
        t.waits = want;
        t.byParity = byParity;
        t.gaveUp = false;
        t.barrier = b;
        f->wait = Wait::Phase;
        f->line = line;
        b->waiting.push_back(f->id);
        reschedule(w);
        t.barrier = nullptr;
        if (t.gaveUp) {
            t.gaveUp = false;
            return 0;
        }
        b = &barrierAt(w, (Addr)p, line, "mbarrier.try_wait");
    }
    learn(w, f, b->known);
    if (w->cluster) f->clusterLearned |= b->remote;
    bool seenBefore = b->phase && b->seen[f->id] == b->phase; // the end of this phase
    b->again[f->id] = seenBefore ? line : 0;
    b->seen[f->id] = b->phase;
    return 1;
}

// cp.async.mbarrier.arrive: what the thread has asked for with cp.async is there when the phase
// is over.
void simt_mbarrier_arrive_copies(void *p, int counted, int line) {
    Worker *w = worker;
    simt_copy_commit();
    simt_copy_wait(0);
    Barrier &b = barrierAt(w, (Addr)p, line, "cp.async.mbarrier.arrive");
    tellTo(w, b);
    arrive(w, b, counted ? 1 : 0, line);
}
}
