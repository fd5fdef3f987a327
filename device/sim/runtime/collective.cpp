// collective.cpp - operations that a warp does together: the lanes meet, and the
// last to arrive computes for all (include/simt/warp.h, Gathering).
#include "collective.h"

#include <cstring>

namespace simt {

namespace {
struct Gathering {
    void (*work)(void *const *lanes);
    void *mine;
    const char *all32; // the operation that needs all lanes, or null
};

const Gathering *of(const Fiber *f) {
    return (const Gathering *)f->in;
}

} // namespace

// A product with a lane missing has no right answer: the kernel ends here.
void requireAll(Worker *w, Fiber *const *lane, const Fiber *any, const char *what) {
    for (int l = 0; l < 32; l++) {
        if (lane[l]) continue;
        {
            Finding f;
            f.check = "synccheck";
            f.kind = "absent lane";
            f.line = any->line;
            f.fatal = true;
            int there = (int)w->warps[any->warp].lanes;
            f.text = std::string(what) + " needs all 32 lanes of a warp; " +
                     (l < there ? "lane " + std::to_string(l) + " has returned"
                                : "this warp has only " + std::to_string(there));
            report(w, f);
        }
        stopKernel(w);
    }
}

bool sameGathering(const Fiber *a, const Fiber *b) {
    return of(a)->work == of(b)->work;
}

void gather(Worker *w, Fiber *const *lane) {
    void *brought[32] = {};
    const Fiber *any = nullptr;
    for (int l = 0; l < 32; l++) {
        if (!lane[l]) continue;
        any = lane[l];
        brought[l] = of(any)->mine;
    }
    const char *what = of(any)->all32;
    if (what) requireAll(w, lane, any, what);
    if (what && !strcmp(what, "wmma::mma_sync")) w->multiplied += 2; // two of m16n8
    of(any)->work(brought);
}

} // namespace simt
