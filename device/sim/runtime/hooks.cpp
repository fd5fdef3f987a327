// hooks.cpp - what the compiler has put into kernels: it calls __tsan_readN before
// the access itself, so a bad one is stopped in time.
#include "access.h"
#include "flags.h"
#include "releases.h"

#define CALLER ((simt::Addr)__builtin_return_address(0))

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
        simt::look((Addr)p, CALLER);                                                               \
        access<n, READ>((Addr)p, CALLER);                                                          \
    }                                                                                              \
    void __tsan_volatile_write##n(void *p) {                                                       \
        access<n, WRITE>((Addr)p, CALLER);                                                         \
        simt::raise((Addr)p, CALLER);                                                              \
    }                                                                                              \
    void __tsan_unaligned_volatile_read##n(void *p) {                                              \
        simt::look((Addr)p, CALLER);                                                               \
        access<n, READ>((Addr)p, CALLER);                                                          \
    }                                                                                              \
    void __tsan_unaligned_volatile_write##n(void *p) {                                             \
        access<n, WRITE>((Addr)p, CALLER);                                                         \
        simt::raise((Addr)p, CALLER);                                                              \
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

// The compiler calls this at the start of every basic block. So even a loop that
// touches no memory takes steps, and arithmetic can be counted.
void __sanitizer_cov_trace_pc() {
    simt::Worker *w = simt::worker;
    if (UNLIKELY(!w)) return;
    Addr pc = CALLER;
    // A loop's own access or barrier should stop it, because that always has a line.
    constexpr uint64_t grace = 10000;
    if (UNLIKELY(++w->steps > w->maxSteps + grace)) simt::stopSteps(w, pc);
    Addr here = (Addr)__builtin_frame_address(0); // below the frame of whoever called
    if (UNLIKELY(here < w->current->deepest)) w->current->deepest = here;
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
    if (!(w->checks & simt::RACE) || simt::neighbourAt(w, (Addr)p)) return;
    simt::handOver(w, (Addr)p);
    // Blocks meet through atomics: what was written before a fence and an atomic is known to a
    // block that comes to an atomic later. In shared memory a thread may tell another, which then
    // goes to the other blocks.
    if (!w->shared->holds((Addr)p))
        simt::meet(w);
    else if (w->current->fenced)
        simt::release(w);
}

void simt_atomic_done() {
    if (simt::worker->meeting) simt::met(simt::worker);
}

// Before an access that PTX calls strong, which is made as a volatile one.
void simt_strong(const volatile void *p) {
    simt::worker->strong = (Addr)p;
}

// Before the simt_atomic of a compare-and-swap.
void simt_compares(const volatile void *p) {
    simt::compares(simt::worker, (Addr)p);
}

void simt_fence() {
    simt::fenceOf(simt::worker, false);
}
void simt_fence_block() {
    simt::fenceOf(simt::worker, true);
}
// Behind a load that acquires: it makes nothing known.
void simt_fence_acquire() {
    simt::acquireBy(simt::worker, false);
}
}
