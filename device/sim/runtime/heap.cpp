// heap.cpp - malloc, free, new and delete in kernels: the end of the range of device memory, apart
// from what the host allocates there. An address is handed out once, until the device is reset, so
// that use after free is seen, and no two threads seem to race on what one freed.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include "hopper.h"
#include "onhost.h"

namespace simt {

namespace {
struct Piece {
    uint64_t bytes;
    bool freed;
};
std::mutex guard;
std::map<Addr, Piece> pieces;
uint64_t inUse, mostInUse;
Addr next;
constexpr uint64_t gap = 64; // bytes that are nobody's, behind each piece

Addr take(uint64_t bytes) {
    std::lock_guard<std::mutex> locked(guard);
    if (pieces.empty()) next = arena.hi - heapRange + gap;
    if (bytes > heapLimit - inUse || next + bytes + gap > arena.hi) return 0;
    Addr a = next;
    pieces[a] = Piece{bytes, false};
    inUse += bytes;
    mostInUse = std::max(mostInUse, inUse);
    next = (a + bytes + gap + 15) & ~Addr(15);
    memset((void *)a, 0xff, bytes);
    memset(arena.state + (a - arena.lo), LIVE, bytes);
    return a;
}

void give(void *p, const char *how, Addr pc) {
    if (!p) return;
    if (!worker) {
        if (onHostFree) onHostFree(p, pc);
        free(p); // as operator delete does
        return;
    }
    Addr a = (Addr)p;
    const char *wrong = nullptr;
    {
        std::lock_guard<std::mutex> locked(guard);
        auto it = pieces.find(a);
        if (it == pieces.end())
            wrong = ": the address is none that malloc or new gave";
        else if (it->second.freed)
            wrong = ": it was freed before";
        else {
            it->second.freed = true;
            inUse -= it->second.bytes;
            memset(arena.state + (a - arena.lo), FREED, it->second.bytes);
        }
    }
    if (wrong) refuseHopper(worker, "bad free", 0, std::string(how) + wrong, pc);
}

void *make(uint64_t bytes, Addr pc) {
    if (!worker) return operator new(bytes);
    Addr a = take(bytes ? bytes : 1);
    if (!a)
        refuseHopper(worker, "heap used up", 0,
                     "new: the heap of kernels has " + std::to_string(heapLimit >> 20) +
                         " MB, and hands out no address twice",
                     pc);
    return (void *)a;
}
} // namespace

void emptyHeap() {
    if (pieces.empty()) return;
    Addr lo = arena.hi - heapRange;
    dropShadow(lo, next - lo);
    pieces.clear();
    inUse = mostInUse = 0;
}

uint64_t heapPeak() {
    std::lock_guard<std::mutex> locked(guard);
    uint64_t peak = mostInUse;
    mostInUse = inUse;
    return peak;
}

bool describeHeap(Addr a, Place *p) {
    if (a < arena.hi - heapRange) return false;
    p->space = "global";
    std::lock_guard<std::mutex> locked(guard);
    auto it = pieces.upper_bound(a);
    if (it == pieces.begin()) {
        p->note = "before the first allocation";
        return true;
    }
    --it;
    p->name = "heap";
    p->offset = (int64_t)(a - it->first);
    p->size = it->second.bytes;
    if (it->second.freed) p->note = "freed";
    return true;
}

} // namespace simt

#define CALLER ((simt::Addr)__builtin_return_address(0))

// The linker sends a module's calls here (--wrap); the names behind __wrap_ are the compiler's
// for new and delete, of one and of many, plain and with the size.
extern "C" {
void *__wrap_malloc(size_t bytes) {
    if (!simt::worker) return malloc(bytes);
    return (void *)simt::take(bytes ? bytes : 1);
}
void __wrap_free(void *p) {
    simt::give(p, "free", CALLER);
}
void *__wrap__Znwm(size_t bytes) {
    return simt::make(bytes, CALLER);
}
void *__wrap__Znam(size_t bytes) {
    return simt::make(bytes, CALLER);
}
void __wrap__ZdlPv(void *p) {
    simt::give(p, "delete", CALLER);
}
void __wrap__ZdaPv(void *p) {
    simt::give(p, "delete[]", CALLER);
}
void __wrap__ZdlPvm(void *p, size_t) {
    simt::give(p, "delete", CALLER);
}
void __wrap__ZdaPvm(void *p, size_t) {
    simt::give(p, "delete[]", CALLER);
}
}
