// access.cpp - the hook that every load and store of a kernel goes through:
// memcheck, initcheck, racecheck, then the counts. The compiler calls
// __tsan_readN before the access itself, so a bad one is stopped in time.
#include <sys/types.h>

#include <algorithm>
#include <cstring>

#include "races.h"
#include "traffic.h"

#define CALLER ((simt::Addr)__builtin_return_address(0))

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

namespace {

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
    report(w, accessFinding("initcheck", kind, pc, op, n, describe(w, a)));
}

// The state bytes of an access of n bytes, as one number.
template <unsigned n> struct StateOf;
template <> struct StateOf<1> {
    typedef uint8_t type;
};
template <> struct StateOf<2> {
    typedef uint16_t type;
};
template <> struct StateOf<4> {
    typedef uint32_t type;
};
template <> struct StateOf<8> {
    typedef uint64_t type;
};
template <> struct StateOf<16> {
    typedef unsigned __int128 type;
};

// spread repeats what is wanted of eight bytes' states.
template <class T> constexpr T spread(uint64_t wanted) {
    return sizeof(T) == 16 ? (T)((unsigned __int128)wanted << 64 | wanted) : (T)wanted;
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

// judge says what is wrong with an access that has not all that it needs, the
// worst first. What it does not stop may be done.
template <class T>
COLD void judge(Worker *w, const uint8_t *s, T state, Addr a, Op op, Addr pc, bool crooked) {
    auto lacks = [&](State bit) { return (T)~state & spread<T>(eachByte(bit)); };
    unsigned n = sizeof(T);
    if (w->checks & MEM) {
        if (lacks(LIVE))
            stopAccess(w, (*s & FREED) ? "use after free" : "out of bounds", a, n, op, pc);
        if (crooked) stopAccess(w, "misaligned", a, n, op, pc);
        if (op != READ && (*s & CONSTANT)) stopAccess(w, "write to constant memory", a, n, op, pc);
    }
    if ((w->checks & INIT) && op != WRITE && lacks(INITIALISED))
        reportUninitialised(w, a, n, op, pc);
}

// elsewhere finds the region of an address outside of shared and device memory;
// null for the module's own read-only data (constant tables, strings).
COLD Region *elsewhere(Worker *w, Addr a, unsigned n, Op op, Addr pc) {
    if (w->data->holds(a)) return w->data;
    if (op != READ || a < w->module->base || a >= w->module->end)
        stopAccess(w, "out of bounds", a, n, op, pc);
    return nullptr;
}

// attend does what had to wait for this access.
COLD void attend(Worker *w, Addr a) {
    // Others run first, and may leave a write of their own.
    bool local = a - w->stackLo < stackSize;
    settleWrites(w);
    if ((w->attention & TraceFull) && !local && w->steps < w->maxSteps) makeRoom(w);
    settleWrites(w);
}

template <unsigned n, Op op, bool anyAlignment = false>
inline __attribute__((always_inline)) void access(Addr a, Addr pc) {
    typedef typename StateOf<n>::type T;
    Worker *w = worker;
    if (UNLIKELY(!w)) return;
    if (UNLIKELY(w->attention)) attend(w, a);
    if (a - w->stackLo < stackSize) return; // the thread's own local memory
    if (UNLIKELY(++w->steps > w->maxSteps)) stopSteps(w, pc);
    Region *r = w->shared;
    if (!r->holds(a)) {
        r = &w->arena;
        if (UNLIKELY(!r->holds(a)) && !(r = elsewhere(w, a, n, op, pc))) return;
    }
    uint8_t *s = r->state + (a - r->lo);
    T state, need = spread<T>(op == WRITE ? w->writeNeeds : w->readNeeds);
    memcpy(&state, s, n);
    bool crooked = a & (n - 1), constant = op != READ && (state & CONSTANT);
    if (UNLIKELY((state & need) != need || constant || (crooked && !anyAlignment)))
        judge(w, s, state, a, op, pc, crooked && !anyAlignment);
    unsigned checks = w->checks;
    if (op != READ && (checks & INIT)) {
        state |= spread<T>(eachByte(INITIALISED));
        memcpy(s, &state, n);
    }
    if (checks & RACE)
        if (op != READ || n != 4 || crooked || !wordRead(w, r, a, pc))
            checkRace(w, r, a, n, op, pc);
    if (checks & TRAFFIC) recordTraffic(w, a, n, op, r == w->shared, pc);
}

template <Op op> void sized(Addr a, unsigned n, Addr pc) {
    switch (n) {
    case 1:
        return access<1, op>(a, pc);
    case 2:
        return access<2, op>(a, pc);
    case 4:
        return access<4, op>(a, pc);
    case 8:
        return access<8, op>(a, pc);
    case 16:
        return access<16, op>(a, pc);
    }
}

template <Op op> void range(Addr a, size_t n, Addr pc) {
    // g++ reports a scalar that it knows to be misaligned as a range.
    if ((n == 2 || n == 4 || n == 8) && (a & (n - 1))) return sized<op>(a, (unsigned)n, pc);
    for (; n >= 4; a += 4, n -= 4) access<4, op, true>(a, pc);
    for (; n; a++, n--) access<1, op, true>(a, pc);
}
} // namespace

// For accesses that the compiler did not see (asynccopy.cpp).
void checkAccess(Addr a, unsigned n, Op op, Addr pc) {
    op == READ ? sized<READ>(a, n, pc) : sized<WRITE>(a, n, pc);
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
        access<n, READ>((Addr)p, CALLER);                                                          \
    }                                                                                              \
    void __tsan_write##n(void *p) {                                                                \
        access<n, WRITE>((Addr)p, CALLER);                                                         \
    }                                                                                              \
    void __tsan_unaligned_read##n(void *p) {                                                       \
        access<n, READ>((Addr)p, CALLER);                                                          \
    }                                                                                              \
    void __tsan_unaligned_write##n(void *p) {                                                      \
        access<n, WRITE>((Addr)p, CALLER);                                                         \
    }                                                                                              \
    void __tsan_volatile_read##n(void *p) {                                                        \
        access<n, READ>((Addr)p, CALLER);                                                          \
    }                                                                                              \
    void __tsan_volatile_write##n(void *p) {                                                       \
        access<n, WRITE>((Addr)p, CALLER);                                                         \
    }                                                                                              \
    void __tsan_unaligned_volatile_read##n(void *p) {                                              \
        access<n, READ>((Addr)p, CALLER);                                                          \
    }                                                                                              \
    void __tsan_unaligned_volatile_write##n(void *p) {                                             \
        access<n, WRITE>((Addr)p, CALLER);                                                         \
    }                                                                                              \
    void __tsan_read_write##n(void *p) {                                                           \
        access<n, READ>((Addr)p, CALLER);                                                          \
        access<n, WRITE>((Addr)p, CALLER);                                                         \
    }                                                                                              \
    void __tsan_unaligned_read_write##n(void *p) {                                                 \
        access<n, READ>((Addr)p, CALLER);                                                          \
        access<n, WRITE>((Addr)p, CALLER);                                                         \
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
    range<READ>((Addr)p, n, CALLER);
}
void __tsan_write_range(void *p, unsigned long n) {
    range<WRITE>((Addr)p, n, CALLER);
}

void *__tsan_memcpy(void *to, const void *from, size_t n) {
    range<READ>((Addr)from, n, CALLER);
    range<WRITE>((Addr)to, n, CALLER);
    return memcpy(to, from, n);
}
void *__tsan_memmove(void *to, const void *from, size_t n) {
    range<READ>((Addr)from, n, CALLER);
    range<WRITE>((Addr)to, n, CALLER);
    return memmove(to, from, n);
}
void *__tsan_memset(void *to, int value, size_t n) {
    range<WRITE>((Addr)to, n, CALLER);
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
    uint32_t offset = (uint32_t)(pc - w->codeBase);
    if (UNLIKELY(w->blockRuns[offset]++ == 0)) w->blocksSeen.push_back(offset);
}

// The linker sends a module's plain memcpy and the like here (--wrap), so that
// a structure's copy is checked as the loop it stands for.
void *__wrap_memcpy(void *to, const void *from, size_t n) {
    range<READ>((Addr)from, n, CALLER);
    range<WRITE>((Addr)to, n, CALLER);
    return memcpy(to, from, n);
}
void *__wrap_memmove(void *to, const void *from, size_t n) {
    range<READ>((Addr)from, n, CALLER);
    range<WRITE>((Addr)to, n, CALLER);
    return memmove(to, from, n);
}
void *__wrap_memset(void *to, int value, size_t n) {
    range<WRITE>((Addr)to, n, CALLER);
    return memset(to, value, n);
}

// The shim's atomics report themselves, then work without instrumentation.
void simt_atomic(const volatile void *p, int n) {
    simt::sized<ATOMIC>((Addr)p, (unsigned)n, CALLER);
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
