// proxies.cpp - fence.proxy.async: what threads write themselves has to be handed over before the
// copy engine or the tensor cores read it. The fence may stand on either side: where the writer
// goes on to tell others, or where one who was told goes on to ask for the copy or product.
#include <algorithm>

#include "cluster.h"
#include "hopper.h"

namespace simt {

bool handedOver(Worker *w, const Fiber *reader, const Access &write) {
    if (write.epoch < w->blockEpoch || write.thread() >= (unsigned)w->threads) return true;
    Hopper &h = *w->hopper;
    const ThreadState &writer = h.threads[write.thread()], &r = h.threads[reader->id];
    if (writer.fenced > write.clock || r.fencedEpoch > write.epoch) return true;
    return r.fencedEpoch == write.epoch && !r.fencedKnown.empty() &&
           r.fencedKnown[write.thread()] > write.clock;
}

void checkHandedOver(Worker *w, Addr a, unsigned n, Addr pc, const char *who) {
    if (!(w->checks & RACE)) return;
    const Region *r = w->shared;
    for (Addr at = a; at < a + n; at += 16) {
        const Access &write = r->cells[(at - r->lo) >> 2].write;
        if (LIKELY(handedOver(w, w->current, write))) continue;
        if (r->state[at - r->lo] & PENDING) continue; // the copy engine's: not waited for
        Addr other = w->codeBase + write.pc;
        if (seenBefore(w, "no proxy fence", pc, other)) return;
        Finding f = accessFinding("racecheck", "no proxy fence", pc, READ, 16, describe(w, at));
        f.otherPc = other;
        f.otherOp = WRITE;
        f.otherThread = (int)write.thread();
        f.otherBlock = w->blockIndex;
        f.text = who;
        report(w, f);
        return;
    }
}

} // namespace simt

using namespace simt;

extern "C" {

void simt_fence_proxy() {
    Worker *w = worker;
    Fiber *f = w->current;
    ThreadState &t = stateOf(w, f);
    startOrder(w);
    f->late.clear();
    tick(w, f);
    t.fenced = f->clock;
    t.fencedEpoch = w->epoch;
    const Clock *row = w->order + f->id * orderWidth(w);
    t.fencedKnown.assign(row, row + orderWidth(w));
    const uint16_t *known = w->warps[f->warp].known[f->lane];
    std::copy(known, known + 32, t.fencedKnown.begin() + f->warp * 32);
    for (auto &[at, b] : w->hopper->barriers) b->fenced = true;
}

void simt_fence_mbarrier_init() {
    Worker *w = worker;
    for (auto &[at, b] : hopperOf(w).barriers) b->fenced = true;
    if (w->cluster) fenceCluster(w, w->current);
}
}
