// access.cpp - what happens to an access off the usual path.
#include "access.h"

namespace simt {

__thread Worker *worker;

Finding accessFinding(const char *check, const char *kind, Addr pc, Op op, unsigned n,
                      Place place) {
    Finding f;
    f.check = check;
    f.kind = kind;
    f.pc = pc;
    f.op = op;
    f.bytes = n;
    f.place = std::move(place);
    return f;
}

COLD void stopAccess(Worker *w, const char *kind, Addr a, unsigned n, Op op, Addr pc) {
    {
        Finding f = accessFinding("memcheck", kind, pc, op, n, describe(w, a));
        f.fatal = true;
        report(w, f);
    }
    stopKernel(w);
}

COLD void reportUninitialised(Worker *w, Addr a, unsigned n, Op op, Addr pc) {
    const char *kind = "uninitialised";
    if (w->shared->holds(a))
        for (unsigned i = 0; i < n; i++)
            if (w->shared->state[a - w->shared->lo + i] & PENDING) kind = "not waited for";
    if (seenBefore(w, kind, pc, 0)) return;
    report(w, accessFinding("initcheck", kind, pc, op, n, describe(w, a)));
}

COLD void stopSteps(Worker *w, Addr pc) {
    {
        Finding f;
        f.check = "limits";
        f.kind = w->maxSteps ? "steps" : "time"; // 0: interrupted by the clock
        f.pc = pc;
        f.fatal = true;
        report(w, f);
    }
    stopKernel(w);
}

// countRaced is the rest of an access that the race detector looks at closely.
void countRaced(Worker *w, Region *r, Addr a, unsigned n, Op op, Addr pc) {
    checkRace(w, r, a, n, op, pc);
    if (w->checks & TRAFFIC) recordTraffic(w, a, n, op, r == w->shared, pc);
}

// For accesses that the compiler did not see (asynccopy.cpp).
void checkAccess(Addr a, unsigned n, Op op, Addr pc) {
    op == READ ? sized<READ>(a, n, pc) : sized<WRITE>(a, n, pc);
}

} // namespace simt
