// warps.cpp - what the lanes of a warp do together: the last to arrive
// does it for all.
#include <algorithm>
#include <cstring>

#include "collective.h"
#include "order.h"
#include "schedule.h"

namespace simt {

namespace {
// Kinds, as include/simt/warp.h numbers them.
enum { SyncWarp = 1, Shuffle, Ballot, Match, Together, Aligned };

void shuffle(Worker *w, Fiber *const *lane) {
    for (int l = 0; l < 32; l++) {
        Fiber *me = lane[l];
        if (!me) continue;
        Fiber *from = me->source >= 0 && me->source < 32 ? lane[me->source] : nullptr;
        if (!from && (w->checks & SYNC)) {
            bool named = me->source >= 0 && me->source < 32 && (me->mask >> me->source & 1);
            Finding f = syncFinding(named ? "absent lane" : "lane outside the mask", me->line);
            f.text = "lane " + std::to_string(l) + " (" + threadName(*me) + ") reads from lane " +
                     std::to_string(me->source) +
                     (named ? ", which has returned" : ", which the mask leaves out");
            report(w, f);
        }
        memcpy(me->out, from ? from->in : me->in, me->size);
    }
}

void ballot(Fiber *const *lane) {
    unsigned votes = 0;
    for (int l = 0; l < 32; l++)
        if (lane[l] && *(const int *)lane[l]->in) votes |= 1u << l;
    for (int l = 0; l < 32; l++)
        if (lane[l]) *(unsigned *)lane[l]->out = votes;
}

void match(Fiber *const *lane) {
    for (int l = 0; l < 32; l++) {
        if (!lane[l]) continue;
        unsigned same = 0;
        for (int k = 0; k < 32; k++)
            if (lane[k] && !memcmp(lane[k]->in, lane[l]->in, lane[l]->size)) same |= 1u << k;
        *(unsigned *)lane[l]->out = same;
    }
}

} // namespace

void joinClocks(Worker *w, Warp *wp, Fiber *const *lane) {
    uint16_t joined[32] = {};
    for (int l = 0; l < 32; l++)
        if (lane[l])
            for (int k = 0; k < 32; k++) joined[k] = std::max(joined[k], wp->known[l][k]);
    for (int l = 0; l < 32; l++) {
        if (!lane[l]) continue;
        for (int k = 0; k < 32; k++)
            wp->known[l][k] = joined[k] + (lane[k] && joined[k] < lastClock ? 1 : 0);
        lane[l]->clock = std::min<Clock>(wp->known[l][l], lastClock - 1);
        if (UNLIKELY(wp->known[l][l] == lastClock)) overfull(w, Table::Clocks);
    }
}

// tryWarp runs a collective once all its lanes have arrived.
bool tryWarp(Worker *w, Fiber *f) {
    Warp *wp = &w->warps[f->warp];
    uint32_t need = f->mask & wp->alive;
    // The last lane mostly comes last, and then no other needs a look before.
    if (need && w->fibers[f->warp * 32 + 31 - __builtin_clz(need)].wait != Wait::Warp) return false;
    Fiber *lane[32] = {};
    while (need) {
        int l = 31 - __builtin_clz(need);
        need &= ~(1u << l);
        Fiber *o = &w->fibers[f->warp * 32 + l];
        if (o->wait != Wait::Warp || o->mask != f->mask || o->kind != f->kind) return false;
        if (f->kind == Together && !sameGathering(o, f)) return false;
        lane[l] = o;
    }
    switch (f->kind) {
    case SyncWarp:
        joinClocks(w, wp, lane);
        if (UNLIKELY(w->order)) shareInWarp(w, lane);
        break;
    case Shuffle:
        shuffle(w, lane);
        break;
    case Ballot:
        ballot(lane);
        break;
    case Match:
        match(lane);
        break;
    case Together:
        gather(w, lane);
        break;
    case Aligned: // with all 32 it would have been done before
        requireAll(w, lane, f, ((const Instruction *)f->in)->name);
        break;
    }
    for (int l = 0; l < 32; l++) {
        if (!lane[l]) continue;
        lane[l]->wait = Wait::None;
        if (lane[l] != w->current) push(w, lane[l]->id);
    }
    return true;
}

// A lane that waits at another instruction of this kind will wait for ever: the others can
// only get there by passing this one.
COLD static void divergent(Worker *w, const Fiber *f, const Instruction &i, const Warp &wp) {
    const Fiber &other = w->fibers[f->warp * 32 + __builtin_ctz(wp.arrived)];
    {
        Finding x = syncFinding("divergent warp", f->line);
        x.otherLine = other.line;
        x.fatal = true;
        x.text = std::string(i.name) +
                 " needs all 32 lanes of a warp at one place: " + threadName(*f) + " is at line " +
                 std::to_string(f->line) + ", " + threadName(other) + " waits at " +
                 wp.instruction->name + " in line " + std::to_string(other.line);
        report(w, x);
    }
    stopKernel(w);
}

void aligned(Worker *w, const Instruction &i, int line) {
    Fiber *f = w->current;
    Warp &wp = w->warps[f->warp];
    f->wait = Wait::Warp;
    f->mask = ~0u;
    f->kind = Aligned;
    f->met++;
    f->in = &i;
    f->line = line;
    if (!wp.arrived) {
        wp.instruction = &i;
        wp.line = line;
    } else if (UNLIKELY(wp.instruction != &i || wp.line != line)) {
        divergent(w, f, i, wp);
    }
    wp.arrived |= 1u << f->lane;
    if (LIKELY(wp.arrived != ~0u)) {
        if (UNLIKELY(wp.alive != ~0u)) tryWarp(w, f);
        return reschedule(w);
    }
    wp.arrived = 0;
    i.work(w->exchanges[f->warp]);
    w->multiplied += i.product;
    Fiber *first = w->fibers + f->warp * 32;
    for (int l = 0; l < 32; l++) {
        first[l].wait = Wait::None;
        if (l != f->lane) push(w, first[l].id);
    }
}

// gatherWarp lets the lanes of a warp go on that wait to see who comes along: those at one
// place go together.
static void gatherWarp(Worker *w, int warp) {
    Fiber *first = w->fibers + warp * 32;
    int lanes = (int)w->warps[warp].lanes;
    for (int l = 0; l < lanes; l++) {
        if (first[l].wait != Wait::Gather) continue;
        uint32_t together = 0;
        for (int k = l; k < lanes; k++)
            if (first[k].wait == Wait::Gather && first[k].in == first[l].in) together |= 1u << k;
        for (int k = l; k < lanes; k++) {
            if (!(together >> k & 1)) continue;
            first[k].mask = together;
            first[k].wait = Wait::None;
            w->gathering--;
            if (&first[k] != w->current) push(w, first[k].id);
        }
    }
}

// gatherLanes does so for all warps: nobody else can come, for no other thread runs.
void gatherLanes(Worker *w) {
    for (int i = 0; i * 32 < w->threads; i++) gatherWarp(w, i);
    if (w->current->wait == Wait::None) push(w, w->current->id);
}

} // namespace simt

extern "C" {

void simt_warp(unsigned mask, int kind, const void *in, void *out, int size, int source, int line) {
    using namespace simt;
    Worker *w = worker;
    Fiber *f = w->current;
    uint32_t lanes = w->warps[f->warp].lanes;
    mask &= lanes == 32 ? ~0u : (1u << lanes) - 1;
    if (!(mask >> f->lane & 1)) {
        if (w->checks & SYNC) {
            Finding x = syncFinding("wrong mask", line);
            x.text = threadName(*f) + " is lane " + std::to_string(f->lane) +
                     ", which the mask it passes leaves out";
            report(w, x);
        }
        mask |= 1u << f->lane;
    }
    f->met++;
    f->wait = Wait::Warp;
    f->mask = mask;
    f->kind = kind;
    f->in = in;
    f->out = out;
    f->size = size;
    f->source = source;
    f->line = line;
    if (!tryWarp(w, f)) reschedule(w);
}

unsigned simt_lane() {
    return simt::worker->current->lane;
}
unsigned simt_alive() {
    return simt::worker->warps[simt::worker->current->warp].alive;
}
// Which lanes are at this very place: known once all others wait elsewhere or are gone.
unsigned simt_active() {
    using namespace simt;
    Worker *w = worker;
    Fiber *f = w->current;
    f->wait = Wait::Gather;
    f->in = __builtin_return_address(0);
    w->gathering++;
    const Warp &wp = w->warps[f->warp];
    bool allWait = true; // the last of its warp need not wait for others
    for (uint32_t rest = wp.alive; rest && allWait; rest &= rest - 1)
        allWait = w->fibers[f->warp * 32 + __builtin_ctz(rest)].wait != Wait::None;
    if (allWait)
        gatherWarp(w, f->warp);
    else
        reschedule(w);
    return f->mask;
}
}
