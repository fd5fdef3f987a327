// skips.cpp - threads that skip a barrier and go on. On a GPU, who has returned counts as arrived:
// a thread without work may return before a barrier at which others of its warp wait. One that has
// skipped the barrier returns as well in the end. It is told by what it did: something that
// others of its warp do only behind that barrier. Which of that shows a skip is for Go to say,
// which has the source (skips.go). Who skips it and does nothing more is noted as well: in a kernel
// without a return, only a branch or a loop leads around a barrier.
#include "skips.h"

#include <algorithm>

#include "schedule.h"

namespace simt {

namespace {
uint32_t lanesOf(const Warp &wp) {
    return wp.lanes == 32 ? ~0u : (1u << wp.lanes) - 1;
}

bool has(const std::vector<Addr> &all, Addr key) {
    return std::find(all.begin(), all.end(), key) != all.end();
}

void tell(Worker *w, const Skip &s, Addr key) {
    Finding f = syncFinding("barrier not reached by all", s.line);
    f.text = s.text;
    f.otherPc = pcOf(key);
    report(w, f);
}

// leaving are those of a warp that have returned since its last barrier.
Skip &leaving(Worker *w, int warp) {
    for (Skip &s : w->skips)
        if (s.warp == warp && !s.line) return s;
    w->skips.push_back(Skip{warp, 0, 0, {}, {}});
    return w->skips.back();
}
} // namespace

void watchSkips(Worker *w, int warp, const Trace &t) {
    if (!(w->checks & SYNC)) return;
    for (Skip &s : w->skips) {
        if (s.warp != warp || !s.line) continue;
        for (const Request *r = t.requests; r < t.end && !s.did.empty(); r++)
            if (r->mask & ~s.gone) {
                auto it = std::find(s.did.begin(), s.did.end(), r->key);
                if (it == s.did.end()) continue;
                tell(w, s, r->key);
                s.did.erase(it);
            }
    }
    const Warp &wp = w->warps[warp];
    uint32_t gone = lanesOf(wp) & ~wp.alive;
    if (!wp.alive || !gone) return;
    std::vector<bool> common(
        w->traffic->sites.size()); // what the others do before the barrier, too
    for (const Request *r = t.requests; r < t.end; r++)
        if (r->mask & wp.alive) common[r->site] = true;
    for (const Request *r = t.requests; r < t.end; r++) {
        if (!(r->mask & gone) || common[r->site]) continue;
        Skip &now = leaving(w, warp);
        now.gone = gone;
        if (!has(now.did, r->key)) now.did.push_back(r->key);
    }
}

void leftBefore(Worker *w, int warp, int line) {
    for (Skip &s : w->skips) {
        if (s.warp != warp || s.line) continue;
        s.line = line;
        s.text = waiting(w->alive) + " at the barrier; " +
                 std::to_string(__builtin_popcount(s.gone)) +
                 " more of the same warp skipped it and went on, the first is " +
                 threadName(w->fibers[warp * 32 + __builtin_ctz(s.gone)]);
    }
}

void noteEnded(Worker *w, int line) {
    std::vector<int> &told = w->endedBefore; // of this block
    if (std::find(told.begin(), told.end(), line) != told.end()) return;
    told.push_back(line);
    const Fiber *first = w->fibers;
    while (first->wait != Wait::Exited) first++;
    Finding f = syncFinding("ended before a barrier", line);
    f.check = "note";
    f.text = waiting(w->alive) + " at the barrier; " + std::to_string(w->exited) +
             (w->exited == 1 ? " has" : " have") + " ended without coming to it, the first is " +
             threadName(*first);
    report(w, f);
}

} // namespace simt
