// access.cpp - the hook that every load and store of a kernel goes through:
// memcheck, initcheck, racecheck, then the counts. The compiler calls
// __tsan_readN before the access itself, so a bad one is stopped in time.
#include <sys/types.h>

#include <algorithm>
#include <cstring>

#include "runtime.h"

#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)
#define COLD [[gnu::noinline, gnu::cold]]
#define CALLER ((simt::Addr)__builtin_return_address(0))

namespace simt {

__thread Worker *worker;

namespace {

Finding finding(const char *check, const char *kind, Addr pc, Op op, unsigned n, Place place) {
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
        Finding f = finding("memcheck", kind, pc, op, n, describe(w, a));
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
    report(w, finding("initcheck", kind, pc, op, n, describe(w, a)));
}

COLD void reportRace(Worker *w, Addr a, unsigned n, Op op, Addr pc, const Access &other,
                     Op otherOp) {
    Finding f = finding("racecheck", "race", pc, op, n, describe(w, a));
    f.otherPc = w->module->base + other.pc;
    f.otherOp = otherOp;
    f.otherThread = (int)other.thread();
    f.otherBlock = w->blockIndex;
    report(w, f);
}

// Two writes of one value do no harm, and the new value is not there yet when
// the hook runs: such a pair waits until the next access.
COLD void settlePending(Worker *w) {
    PendingWrite &p = w->pending;
    p.on = false;
    if (p.seen) memcpy(&p.seen->value, (void *)p.seenAt, 4);
    if (p.conflicts && memcmp((void *)p.a, p.old, p.n) != 0)
        reportRace(w, p.a, p.n, WRITE, p.pc, p.other, WRITE);
}

COLD void writeAfterWrite(Worker *w, Addr a, unsigned n, Addr pc, const Access &other) {
    PendingWrite &p = pend(w);
    if (p.conflicts) return;
    p.conflicts = true;
    p.a = a;
    p.pc = pc;
    p.n = n > 16 ? 16 : n;
    p.other = other;
    memcpy(p.old, (void *)a, p.n);
}

// unordered tells whether nothing orders an earlier access of this block and
// this thread's next one.
inline bool unordered(Worker *w, const Access &x, unsigned mask) {
    if (LIKELY(x.epoch != w->epoch)) return false;
    Fiber *me = w->current;
    if (x.thread() == me->id || !(x.mask() & mask)) return false;
    // A __syncwarp may lie between.
    return x.warp() != me->warp || w->warps[me->warp].known[me->lane][x.thread() & 31] <= x.clock;
}

// Two readers of this interval in different warps are enough to convict any
// later writer: no order can clear both.
inline bool convicts(Worker *w, const Cell *c) {
    const Access &a = c->read1, &b = c->read2;
    return a.epoch == w->epoch && b.epoch == w->epoch && a.warp() != b.warp() &&
           (a.mask() & b.mask()) == 15;
}

// remember keeps a reader: the first of the interval, and the last other one.
inline void remember(Worker *w, Cell *c, const Access &now) {
    Access *slot = &c->read1;
    if (slot->epoch == w->epoch && slot->thread() != now.thread()) slot = &c->read2;
    bool again = slot->epoch == now.epoch && slot->thread() == now.thread();
    unsigned before = again ? slot->mask() : 0;
    *slot = now;
    slot->who |= (uint16_t)(before << Access::maskShift);
}

void checkRace(Worker *w, Region *r, Addr a, unsigned n, Op op, Addr pc) {
    Fiber *me = w->current;
    Addr end = a + n;
    for (Addr word = a & ~(Addr)3; word < end; word += 4) {
        Cell *c = r->cells + ((word - r->lo) >> 2);
        unsigned mask = 0xF;
        if (word < a) mask &= 0xF << (a - word);
        if (word + 4 > end) mask &= 0xF >> (word + 4 - end);
        if (r->between) noteBetween(w, r, word, mask, op, pc);
        if (!(op == ATOMIC && c->write.atomic()) && UNLIKELY(unordered(w, c->write, mask))) {
            if (op == WRITE)
                writeAfterWrite(w, a, n, pc, c->write);
            else
                reportRace(w, a, n, op, pc, c->write, c->write.atomic() ? ATOMIC : WRITE);
        }
        if (op == READ && convicts(w, c)) {
            if (c->write.epoch != w->epoch) r->settled[(word - r->lo) >> 2] = w->epoch;
            continue;
        }
        Access now = {w->epoch, (uint32_t)(pc - w->module->base),
                      (uint16_t)(me->id | mask << Access::maskShift |
                                 (unsigned)(op == ATOMIC) << Access::atomicShift),
                      w->warps[me->warp].known[me->lane][me->lane]};
        if (op == READ) {
            remember(w, c, now);
            continue;
        }
        for (Access *reader : {&c->read1, &c->read2})
            if (UNLIKELY(unordered(w, *reader, mask))) reportRace(w, a, n, op, pc, *reader, READ);
        c->write = now;
        r->settled[(word - r->lo) >> 2] = 0;
    }
}

// all tells whether n state bytes carry a bit; the common sizes in one load.
inline bool all(const uint8_t *s, unsigned n, uint8_t bit) {
    const uint64_t every = 0x0101010101010101ull * bit;
    switch (n) {
    case 1:
        return *s & bit;
    case 2: {
        uint16_t v;
        memcpy(&v, s, 2);
        return (v & (uint16_t)every) == (uint16_t)every;
    }
    case 4: {
        uint32_t v;
        memcpy(&v, s, 4);
        return (v & (uint32_t)every) == (uint32_t)every;
    }
    case 8: {
        uint64_t v;
        memcpy(&v, s, 8);
        return (v & every) == every;
    }
    }
    for (unsigned i = 0; i < n; i++)
        if (!(s[i] & bit)) return false;
    return true;
}

inline void setInitialised(uint8_t *s, unsigned n) {
    if (n == 4) {
        uint32_t v;
        memcpy(&v, s, 4);
        v |= 0x01010101u * INITIALISED;
        memcpy(s, &v, 4);
        return;
    }
    for (unsigned i = 0; i < n; i++) s[i] |= INITIALISED;
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

// Accesses to the module's own read-only data (constant tables, strings).
COLD bool readOnlyData(Worker *w, Addr a, Op op) {
    return op == READ && a >= w->module->base && a < w->module->end && !w->data->holds(a);
}

inline __attribute__((always_inline)) void access(Addr a, unsigned n, Op op, Addr pc,
                                                  bool anyAlignment = false) {
    Worker *w = worker;
    if (UNLIKELY(!w)) return;
    if (UNLIKELY(w->pending.on)) settlePending(w);
    if (a - w->stackLo < stackSize) return; // the thread's own local memory
    if (UNLIKELY(++w->steps > w->maxSteps)) stopSteps(w, pc);
    if (UNLIKELY(w->current->full)) makeRoom(w);
    Region *r;
    if (w->shared->holds(a))
        r = w->shared;
    else if (LIKELY(w->arena.holds(a)))
        r = &w->arena;
    else if (w->data->holds(a))
        r = w->data;
    else if (readOnlyData(w, a, op))
        return;
    else
        return stopAccess(w, "out of bounds", a, n, op, pc);
    uint8_t *s = r->state + (a - r->lo);
    unsigned checks = w->checks;
    if (checks & MEM) {
        if (UNLIKELY(!all(s, n, LIVE)))
            return stopAccess(w, (*s & FREED) ? "use after free" : "out of bounds", a, n, op, pc);
        if (UNLIKELY(!anyAlignment && (n & (n - 1)) == 0 && (a & (n - 1))))
            return stopAccess(w, "misaligned", a, n, op, pc);
        if (UNLIKELY(op != READ && (*s & CONSTANT)))
            return stopAccess(w, "write to constant memory", a, n, op, pc);
    }
    if (checks & INIT) {
        if (op != WRITE && UNLIKELY(!all(s, n, INITIALISED))) reportUninitialised(w, a, n, op, pc);
        if (op != READ) setInitialised(s, n);
    }
    if (checks & RACE) {
        bool settled = op == READ && n == 4 && r->settled[(a - r->lo) >> 2] == w->epoch;
        if (!settled) checkRace(w, r, a, n, op, pc);
    }
    if (checks & TRAFFIC) recordTraffic(w, a, n, op, r == w->shared, pc);
}

void range(Addr a, size_t n, Op op, Addr pc) {
    // g++ reports a scalar that it knows to be misaligned as a range.
    if ((n == 2 || n == 4 || n == 8) && (a & (n - 1))) return access(a, (unsigned)n, op, pc);
    for (; n >= 4; a += 4, n -= 4) access(a, 4, op, pc, true);
    for (; n; a++, n--) access(a, 1, op, pc, true);
}

} // namespace

// For accesses that the compiler did not see (asynccopy.cpp).
void checkAccess(Addr a, unsigned n, Op op, Addr pc) {
    access(a, n, op, pc);
}
void recordRace(Worker *w, Region *r, Addr a, unsigned n, Op op, Addr pc) {
    if (w->pending.on) settlePending(w);
    checkRace(w, r, a, n, op, pc);
}

PendingWrite &pend(Worker *w) {
    PendingWrite &p = w->pending;
    if (!p.on) {
        p.on = true;
        p.conflicts = false;
        p.seen = nullptr;
    }
    return p;
}

// Called at the end of a block: the last write may still be pending.
void settleWrites(Worker *w) {
    if (w->pending.on) settlePending(w);
}

} // namespace simt

using simt::access;
using simt::Addr;
using simt::ATOMIC;
using simt::range;
using simt::READ;
using simt::WRITE;

extern "C" {

#define HOOKS(n)                                                                                   \
    void __tsan_read##n(void *p) {                                                                 \
        access((Addr)p, n, READ, CALLER);                                                          \
    }                                                                                              \
    void __tsan_write##n(void *p) {                                                                \
        access((Addr)p, n, WRITE, CALLER);                                                         \
    }                                                                                              \
    void __tsan_unaligned_read##n(void *p) {                                                       \
        access((Addr)p, n, READ, CALLER);                                                          \
    }                                                                                              \
    void __tsan_unaligned_write##n(void *p) {                                                      \
        access((Addr)p, n, WRITE, CALLER);                                                         \
    }                                                                                              \
    void __tsan_volatile_read##n(void *p) {                                                        \
        access((Addr)p, n, READ, CALLER);                                                          \
    }                                                                                              \
    void __tsan_volatile_write##n(void *p) {                                                       \
        access((Addr)p, n, WRITE, CALLER);                                                         \
    }                                                                                              \
    void __tsan_unaligned_volatile_read##n(void *p) {                                              \
        access((Addr)p, n, READ, CALLER);                                                          \
    }                                                                                              \
    void __tsan_unaligned_volatile_write##n(void *p) {                                             \
        access((Addr)p, n, WRITE, CALLER);                                                         \
    }                                                                                              \
    void __tsan_read_write##n(void *p) {                                                           \
        access((Addr)p, n, READ, CALLER);                                                          \
        access((Addr)p, n, WRITE, CALLER);                                                         \
    }                                                                                              \
    void __tsan_unaligned_read_write##n(void *p) {                                                 \
        access((Addr)p, n, READ, CALLER);                                                          \
        access((Addr)p, n, WRITE, CALLER);                                                         \
    }
HOOKS(1)
HOOKS(2)
HOOKS(4)
HOOKS(8)
HOOKS(16)

void __tsan_init() {}
void __tsan_func_entry(void *) {}
void __tsan_func_exit() {}
void __tsan_read_range(void *p, unsigned long n) {
    range((Addr)p, n, READ, CALLER);
}
void __tsan_write_range(void *p, unsigned long n) {
    range((Addr)p, n, WRITE, CALLER);
}

void *__tsan_memcpy(void *to, const void *from, size_t n) {
    range((Addr)from, n, READ, CALLER);
    range((Addr)to, n, WRITE, CALLER);
    return memcpy(to, from, n);
}
void *__tsan_memmove(void *to, const void *from, size_t n) {
    range((Addr)from, n, READ, CALLER);
    range((Addr)to, n, WRITE, CALLER);
    return memmove(to, from, n);
}
void *__tsan_memset(void *to, int value, size_t n) {
    range((Addr)to, n, WRITE, CALLER);
    return memset(to, value, n);
}

// The compiler calls this at the start of every basic block: so even a loop that
// touches no memory takes steps, and arithmetic can be counted.
void __sanitizer_cov_trace_pc() {
    simt::Worker *w = simt::worker;
    if (UNLIKELY(!w)) return;
    Addr pc = CALLER;
    // A loop's own access or barrier shall stop it, for that has a line for certain.
    constexpr uint64_t grace = 10000;
    if (UNLIKELY(++w->steps > w->maxSteps + grace)) simt::stopSteps(w, pc);
    uint32_t offset = (uint32_t)(pc - w->module->base);
    if (UNLIKELY(w->blockRuns[offset]++ == 0)) w->blocksSeen.push_back(offset);
}

// The linker sends a module's plain memcpy and the like here (--wrap), so that
// a structure's copy is checked as the loop it stands for.
void *__wrap_memcpy(void *to, const void *from, size_t n) {
    range((Addr)from, n, READ, CALLER);
    range((Addr)to, n, WRITE, CALLER);
    return memcpy(to, from, n);
}
void *__wrap_memmove(void *to, const void *from, size_t n) {
    range((Addr)from, n, READ, CALLER);
    range((Addr)to, n, WRITE, CALLER);
    return memmove(to, from, n);
}
void *__wrap_memset(void *to, int value, size_t n) {
    range((Addr)to, n, WRITE, CALLER);
    return memset(to, value, n);
}

// The shim's atomics report themselves, then work without instrumentation.
void simt_atomic(const volatile void *p, int n) {
    access((Addr)p, (unsigned)n, ATOMIC, CALLER);
    simt::Worker *w = simt::worker;
    if (w->shared->holds((Addr)p)) return;
    // Blocks meet through atomics: what was written before a fence and an atomic
    // is known to a block that comes to an atomic later.
    if (w->fenced) simt::released(w);
    w->synchronised = true;
}

void simt_fence() {
    simt::worker->fenced = true;
}
}
