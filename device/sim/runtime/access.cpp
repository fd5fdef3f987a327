// access.cpp - what happens to an access off the usual path.
#include "access.h"

#include "hopper.h"

namespace simt {

__thread Worker *worker;
void (*onHost)(Addr a, size_t n, Op op, Addr pc);
void (*onHostFault)(int signal, Addr pc, Addr at);
void (*onHostFree)(void *p, Addr pc);
bool (*ofDevice)(const std::string &name, const std::string &owner);
const KernelEntry *(*kernelsOf)(void *handle, Addr base, const std::string &path);

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
    bool pending = false;
    if (w->shared->holds(a))
        for (unsigned i = 0; i < n; i++)
            if (w->shared->state[a - w->shared->lo + i] & PENDING) pending = true;
    const char *kind = pending ? "not waited for" : "uninitialised";
    if (seenBefore(w, kind, pc, 0)) return;
    Finding f = accessFinding("initcheck", kind, pc, op, n, describe(w, a));
    if (pending) explainCopy(w, a, n, f);
    if (w->usesHopper) explainPending(w, a, f);
    report(w, f);
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

template <Op op> static void uncounted(Worker *w, Addr a, unsigned n, Addr pc) {
    n == 16  ? through<Kind<16, op, true, true, false>>(w, a, pc)
    : n == 4 ? through<Kind<4, op, true, true, false>>(w, a, pc)
             : through<Kind<1, op, true, true, false>>(w, a, pc);
}

void checkUncounted(Addr a, unsigned n, Op op, Addr pc) {
    Worker *w = worker;
    settleWrites(w);
    if ((w->attention & InCluster) && w->shared->holds(a)) checkCross(w, w, a, n, op, pc);
    op == READ ? uncounted<READ>(w, a, n, pc) : uncounted<WRITE>(w, a, n, pc);
}

} // namespace simt

// The lane that computes for all touches every lane's fragments, unseen: each lane tells of its own
// first.
extern "C" void simt_fragment(const void *p, unsigned bytes, int written) {
    using namespace simt;
    Addr pc = (Addr)__builtin_return_address(0);
    written ? range<WRITE>((Addr)p, bytes, pc) : range<READ>((Addr)p, bytes, pc);
}
