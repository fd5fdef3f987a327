// timeline.cpp - one block, barrier by barrier: the steps of each warp between two barriers, how
// many of its lanes took part, and where lanes part.
#include "samples.h"

#include <algorithm>

namespace simt {

namespace {
struct WarpStretch {
    uint32_t most = 0; // steps of the lane that has most
    // Requests for memory, and how many lanes made them: where lanes part, few do. Their steps
    // would not tell, for arithmetic that a GPU has instructions for takes branches here.
    uint32_t requests = 0;
    uint64_t lanes = 0;
    uint32_t part = 0; // the lanes of the request that fewest of them made, if not all did
    Addr pc = 0;       // of that request
};

struct Stretch {
    int line; // of the barrier at its end
    std::vector<WarpStretch> warps;
};

constexpr size_t mostStretches = 96;
} // namespace

struct Timeline {
    uint32_t block = 0;
    int threads = 0;
    uint64_t since = 0; // the block's steps that threads have been charged with
    std::vector<uint32_t> lanes;
    std::vector<WarpStretch> now;
    std::vector<Stretch> stretches;
    uint64_t left = 0; // stretches that are not kept
};

static Timeline drawn; // one launch runs at a time, and it draws one block

void forgetTimeline() {
    drawn = Timeline{};
}

void startTimeline(Worker *w) {
    drawn.block = w->blockIndex;
    drawn.threads = w->threads;
    drawn.lanes.resize((size_t)w->threads);
    drawn.now.resize(((size_t)w->threads + 31) / 32);
    w->timeline = &drawn;
}

void chargeSteps(Worker *w) {
    Timeline &t = *w->timeline;
    if (w->steps > t.since) t.lanes[w->current->id] += (uint32_t)(w->steps - t.since);
    t.since = w->steps;
}

void noteLanes(Worker *w, int warp, const Request &r) {
    uint32_t all = w->warps[warp].lanes == 32 ? ~0u : (1u << w->warps[warp].lanes) - 1;
    WarpStretch &s = w->timeline->now[(size_t)warp];
    int lanes = __builtin_popcount(r.mask);
    s.requests++;
    s.lanes += (uint64_t)lanes;
    if (r.mask == all || (s.part && __builtin_popcount(s.part) <= lanes)) return;
    s.part = r.mask;
    s.pc = pcOf(r.key);
}

void endStretch(Worker *w, int line) {
    Timeline &t = *w->timeline;
    chargeSteps(w);
    bool any = line != 0;
    for (size_t i = 0; i < (size_t)w->threads; i++) {
        WarpStretch &s = t.now[i / 32];
        s.most = std::max(s.most, t.lanes[i]);
        any |= t.lanes[i] > 0;
        t.lanes[i] = 0;
    }
    if (any && t.stretches.size() == mostStretches)
        t.left++;
    else if (any)
        t.stretches.push_back({line, t.now});
    std::fill(t.now.begin(), t.now.end(), WarpStretch{});
}

void endTimeline(Worker *w) {
    endStretch(w, 0);
    w->timeline = nullptr;
}

std::string timelineJson(const Module *m) {
    const Timeline &t = drawn;
    if (t.stretches.empty()) return "";
    std::string out = "{\"module\":" + std::to_string(m->id) +
                      ",\"block\":" + std::to_string(t.block) +
                      ",\"threads\":" + std::to_string(t.threads) +
                      ",\"left\":" + std::to_string(t.left) + ",\"stretches\":[";
    bool first = true;
    for (const Stretch &s : t.stretches) {
        out += (first ? "" : ",") + std::string("{\"line\":") + std::to_string(s.line) +
               ",\"warps\":[";
        first = false;
        for (size_t i = 0; i < s.warps.size(); i++) {
            const WarpStretch &x = s.warps[i];
            out += (i ? ",[" : "[") + std::to_string(x.most) + "," + std::to_string(x.requests) +
                   "," + std::to_string(x.lanes) + "," + std::to_string(x.part) + "," +
                   std::to_string(x.part ? x.pc - m->base - 1 : 0) + "]";
        }
        out += "]}";
    }
    return out + "]}";
}

} // namespace simt
