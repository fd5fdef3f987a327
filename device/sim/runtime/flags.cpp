// flags.cpp - see flags.h.
#include "flags.h"

#include <algorithm>
#include <thread>

#include "cluster.h"
#include "fences.h"
#include "races.h"
#include "releases.h"
#include "schedule.h"

namespace simt {

namespace {
// flagsOf is of the running block as far as others learn from it.
Flags &flagsOf(Worker *w) {
    if (!w->flags) w->flags = new Flags();
    Flags &flags = *w->flags;
    if (flags.blockEpoch != w->blockEpoch)
        flags.known.clear(), flags.atomics.clear(), flags.spinning = {};
    flags.blockEpoch = w->blockEpoch;
    return flags;
}

// strongAt notes an instruction that PTX calls strong: simt_strong has just announced it.
void strongAt(Worker *w, Addr a, Addr pc) {
    if (w->strong != a) return;
    w->strong = 0;
    flagsOf(w).strong.insert(pc);
}

const Region *regionOf(const Worker *w, Addr a) {
    for (const Region *r :
         {(const Region *)w->shared, (const Region *)&w->arena, (const Region *)w->data})
        if (r && r->holds(a)) return r;
    return nullptr;
}
} // namespace

// Who reads the same flag again, perhaps with others between, waits for somebody: others run first.
void look(Addr a, Addr pc) {
    Worker *w = worker;
    if (!w || ownLocal(w, a)) return;
    if (!(w->checks & RACE)) return yieldThread(w); // nobody keeps who has looked where
    strongAt(w, a, pc);
    Flags &flags = flagsOf(w);
    Fiber *f = w->current;
    if (flags.looking != f) flags.looking = f, flags.looked = 0;
    const size_t n = flags.looks.size(), seen = std::min(flags.looked, n);
    const bool again = std::any_of(flags.looks.begin(), flags.looks.begin() + seen,
                                   [&](Flags::Look l) { return l.at == a && l.pc == pc; });
    if (again) {
        flags.looked = 0;
        settleWrites(w);
        spin(w, flags.spinning, pc);
        if (w->head == w->tail && !w->cluster)
            std::this_thread::yield(); // the one may be in another block
        else
            yieldThread(w);
        spun(w);
        flags.looking = f; // others may have looked meanwhile
        flags.looked = 0;
    }
    flags.looks[flags.looked++ % n] = {a, pc};
    f->looked = pc;
    f->lookedAt = a;
}

void raise(Addr a, Addr pc) {
    Worker *w = worker;
    if (!w || !(w->checks & RACE) || ownLocal(w, a)) return;
    strongAt(w, a, pc);
    Fiber *f = w->current;
    if (!f->fenced) return;
    Flags &flags = flagsOf(w);
    flags.raised.insert(pc);
    tellCovered(w, f, flags.known);
    tellCovered(w, f, flags.atomics[a]); // for who comes by an atomic
    if (!w->shared->holds(a)) release(w);
}

// What the thread read before a fence orders what it reads behind.
void acquireBy(Worker *w, bool block) {
    Fiber *f = w->current;
    if (!(w->checks & RACE)) return;
    if (f->came) {
        learn(w, f, flagsOf(w).atomics[f->came]);
        f->came = 0;
    }
    if (!f->looked) return;
    Flags &flags = flagsOf(w);
    flags.seen.insert(f->looked);
    f->looked = 0;
    learn(w, f, flags.known);
    if (auto told = flags.atomics.find(f->lookedAt); told != flags.atomics.end())
        learn(w, f, told->second);
    if (!block) acquire(w);
}

// A fence makes known what the thread wrote before, too.
void fenceOf(Worker *w, bool block) {
    Fiber *f = w->current;
    f->fenced = true;
    if (!block && w->cluster) fenceCluster(w, f);
    if (!block) fence(w);
    if (!(w->checks & RACE)) return;
    // What it did before has the clock before. Clocks are kept for those who tell others, where a
    // loop has fences without number: then its next atomic hands over what is behind the fence,
    // too.
    f->fencedAnew = f->clock > lastClock / 2;
    if (!f->fencedAnew) tick(w, f);
    acquireBy(w, block);
    passFence(w, block);
}

// What was done before a fence goes with every atomic that follows.
void handOver(Worker *w, Addr a) {
    Fiber *f = w->current;
    f->came = a;
    if (!f->fenced) return;
    if (f->fencedAnew) tick(w, f);
    f->fencedAnew = false;
    tellCovered(w, f, flagsOf(w).atomics[a]);
}

void compares(Worker *w, Addr a) {
    if (!(w->checks & RACE)) return;
    const Region *r = regionOf(w, a);
    if (!r) return;
    const Cell &c = r->cells[(a - r->lo) >> 2];
    for (const Access *x : {&c.read1, &c.read2})
        if (x->epoch == w->epoch && x->thread() == w->current->id)
            flagsOf(w).compared.insert(w->codeBase + x->pc);
}

void noteRaces(std::vector<Finding> &all) {
    Flags together;
    for (Worker *w : workers) {
        if (!w->flags) continue;
        together.raised.merge(w->flags->raised);
        together.seen.merge(w->flags->seen);
        together.compared.merge(w->flags->compared);
        together.strong.merge(w->flags->strong);
        *w->flags = Flags();
    }
    auto strong = [&](Addr pc, Op op) { return op == ATOMIC || together.strong.count(pc); };
    all.erase(std::remove_if(all.begin(), all.end(),
                             [&](const Finding &f) {
                                 return f.kind == "race" && f.pc && strong(f.pc, f.op) &&
                                        strong(f.otherPc, f.otherOp);
                             }),
              all.end());
    for (Finding &f : all) {
        if (f.kind != "race" || !f.pc) continue;
        bool readsNow = f.op == READ;
        if (readsNow == (f.otherOp == READ)) continue;
        Addr read = readsNow ? f.pc : f.otherPc, change = readsNow ? f.otherPc : f.pc;
        bool atomic = (readsNow ? f.otherOp : f.op) == ATOMIC;
        if (atomic && together.compared.count(read))
            f.check = "note", f.kind = "first read";
        else if (together.seen.count(read) && (atomic || together.raised.count(change)))
            f.check = "note", f.kind = "flag";
    }
}

} // namespace simt
