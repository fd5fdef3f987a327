// order.cpp - vector clocks: see order.h.
#include "order.h"

#include <algorithm>
#include <cstring>

namespace simt {

namespace {
Clock *rowOf(Worker *w, const Fiber *f) {
    return w->order + f->id * orderWidth(w);
}

void join(Clock *into, const Clock *from, size_t n) {
    for (size_t i = 0; i < n; i++) into[i] = std::max(into[i], from[i]);
}
} // namespace

Access accessNow(const Worker *w, Addr pc) {
    const Fiber *f = w->current;
    return {w->epoch, (uint32_t)(pc - w->codeBase), (uint16_t)(f->id | 15 << Access::maskShift),
            f->clock};
}

void startOrder(Worker *w) {
    if (w->order) return;
    constexpr size_t most = maxThreads + engineClocks + clusterClocks;
    if (!w->orderRoom) w->orderRoom = (Clock *)reserve(maxThreads * most * sizeof(Clock));
    w->order = w->orderRoom;
    memset(w->order, 0, (size_t)w->threads * orderWidth(w) * sizeof(Clock));
}

void tick(Worker *w, Fiber *f) {
    uint16_t &mine = w->warps[f->warp].known[f->lane][f->lane];
    if (mine < lastClock)
        mine++;
    else
        overfull(w, Table::Clocks);
    f->clock = std::min<Clock>(mine, lastClock - 1);
}

void tell(Worker *w, Fiber *f, std::vector<Clock> &into) {
    tick(w, f); // what it did before is before its new clock
    startOrder(w);
    into.resize(orderWidth(w));
    join(into.data(), rowOf(w, f), into.size());
    join(into.data() + f->warp * 32, w->warps[f->warp].known[f->lane], 32);
}

void learn(Worker *w, Fiber *f, const std::vector<Clock> &from) {
    startOrder(w);
    if (from.empty()) return;
    join(rowOf(w, f), from.data(), from.size());
    uint16_t *known = w->warps[f->warp].known[f->lane];
    for (int k = 0; k < 32; k++)
        if (k != f->lane) known[k] = std::max(known[k], from[f->warp * 32 + k]);
}

void shareInWarp(Worker *w, Fiber *const *lane) {
    if (!w->order) return;
    std::vector<Clock> all(orderWidth(w));
    for (int l = 0; l < 32; l++)
        if (lane[l]) join(all.data(), rowOf(w, lane[l]), all.size());
    for (int l = 0; l < 32; l++)
        if (lane[l]) memcpy(rowOf(w, lane[l]), all.data(), all.size() * sizeof(Clock));
}

void meetInWarp(Worker *w, int warp) {
    Warp *wp = &w->warps[warp];
    Fiber *lane[32] = {};
    for (uint32_t rest = wp->alive; rest; rest &= rest - 1) {
        int l = __builtin_ctz(rest);
        lane[l] = &w->fibers[warp * 32 + l];
    }
    joinClocks(w, wp, lane);
    shareInWarp(w, lane);
}

} // namespace simt
