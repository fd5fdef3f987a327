// fences.cpp - see fences.h.
#include "fences.h"

#include <algorithm>

namespace simt {

namespace {
void extend(Worker *w, const Fiber *f, Reach &r) {
    const size_t width = firstEngine(w);
    if (r.epoch != w->epoch || !r.clocks || r.clocks->size() != width) {
        // Releases may hold the former interval's (releases.cpp).
        if (!r.clocks || r.clocks.use_count() > 1)
            r.clocks = std::make_shared<std::vector<Clock>>();
        r.clocks->assign(width, 0);
        r.epoch = w->epoch;
    }
    Clock *clocks = r.clocks->data();
    if (w->order) {
        const Clock *row = w->order + f->id * orderWidth(w);
        for (size_t t = 0; t < width; t++) clocks[t] = std::max(clocks[t], row[t]);
    }
    const uint16_t *known = w->warps[f->warp].known[f->lane];
    Clock *warp = clocks + f->warp * 32;
    for (int l = 0; l < 32; l++) warp[l] = std::max(warp[l], known[l]);
    // Where its clock has not ticked, what follows has the same, and counts as covered.
    if (f->fencedAnew) warp[f->lane] = std::max<Clock>(warp[f->lane], f->clock + 1);
}
} // namespace

void passFence(Worker *w, bool block) {
    if (!w->fences) w->fences = new Fences();
    extend(w, w->current, w->fences->block);
    if (!block) extend(w, w->current, w->fences->device);
}

void forgetFences(Worker *w) {
    if (w->fences) w->fences->block.epoch = w->fences->device.epoch = 0;
}

void joinCovered(const Worker *w, const Fiber *f, const Reach &r, Clock *into) {
    if (r.epoch != w->epoch) return;
    const Clock *covered = r.clocks->data();
    if (w->order) {
        const Clock *row = w->order + f->id * orderWidth(w);
        for (size_t t = 0; t < r.clocks->size(); t++)
            into[t] = std::max(into[t], std::min(row[t], covered[t]));
    }
    const uint16_t *known = w->warps[f->warp].known[f->lane];
    for (int l = 0, t = f->warp * 32; l < 32; l++, t++)
        into[t] = std::max(into[t], std::min(known[l], covered[t]));
    into[f->id] = std::max(into[f->id], covered[f->id]); // it knows all that it did
}

void tellCovered(Worker *w, const Fiber *f, std::vector<Clock> &into) {
    startOrder(w);
    into.resize(orderWidth(w));
    if (w->fences) joinCovered(w, f, w->fences->block, into.data());
    const Clock *row = w->order + f->id * orderWidth(w);
    for (size_t i = firstEngine(w); i < into.size(); i++) into[i] = std::max(into[i], row[i]);
}

} // namespace simt
