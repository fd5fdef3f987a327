// hopper.h - what a block remembers of Hopper's instructions: barriers in shared memory, copies by
// the copy engine, products of warpgroups. It exists from a block's first such instruction on.
#pragma once
#include <memory>

#include "order.h"
#include "schedule.h"

namespace simt {

// A piece of a bulk copy that is contiguous at both ends; without a source it brings zeros.
struct Piece {
    Addr from, to;
    uint32_t bytes;
};

// A bulk copy that has been asked for, and not yet been made.
struct BulkCopy {
    std::vector<Piece> pieces;
    Addr to = 0;            // in shared memory; of a store, what it sends
    std::vector<char> sent; // what that was when it was asked for
    unsigned swizzle = 0;   // bytes: 0, 32, 64, 128
    uint64_t bytes = 0, phase = 0;
    Addr pc = 0;
    int line = 0;
    uint16_t thread = 0;
    uint32_t block = 0; // that asked
    bool again = false; // the same bytes as a copy before: multicast
};

// An mbarrier. Its phase is over when all arrivals are there, and all bytes.
struct Barrier {
    Addr at = 0;
    Worker *owner = nullptr; // of the block whose it is
    uint16_t asker = 0;      // the last thread to ask for a copy
    uint16_t engine = 0;     // under which the copies that it waits for write (order.h)
    uint32_t count = 0, left = 0;
    int64_t bytes = 0;                   // announced, and still to come
    uint64_t phase = 0;                  // how many are over
    uint64_t announced = 0, brought = 0; // bytes, in the running phase
    bool fenced = false;                 // its initialisation, for the copy engine
    bool remote = false;                 // other blocks of the cluster have arrived
    Clock madeClock = 0;                 // of its block (cluster.h)
    Access made = {};                    // its initialisation
    int madeIn = 0, announcedIn = 0;     // lines
    std::vector<Clock> gathering,
        known; // what those who have arrived knew; of phases that are over
    std::vector<BulkCopy> copies;
    std::vector<uint16_t> waiting; // threads
    // By thread: the phases that it has seen the end of, and where it last waited for one of them
    // again.
    std::vector<uint64_t> seen;
    std::vector<int> again;
};

struct NamedBarrier {
    uint32_t count = 0, arrived = 0;
    int line = 0; // of the first to come
    std::vector<Clock> gathering;
    std::vector<uint16_t> waiting;
};

struct WarpGroup; // wgmma.h

// What one thread has under way.
struct ThreadState {
    std::vector<BulkCopy> stores;      // to device memory
    std::vector<uint64_t> storeGroups; // of each store: the group it is in
    uint64_t group = 0;
    uint64_t waits = 0; // the phase it waits for, or its parity
    bool byParity = false, gaveUp = false;
    Barrier *barrier = nullptr;
    Clock fenced = 0;               // what it wrote before this clock has been handed over
    uint32_t fencedEpoch = 0;       // what everybody wrote in earlier intervals has been
    std::vector<Clock> fencedKnown; // and of others' writes, those before these clocks
};

struct Hopper {
    std::map<Addr, std::unique_ptr<Barrier>> barriers;
    NamedBarrier named[16];
    std::vector<ThreadState> threads;
    std::vector<std::shared_ptr<WarpGroup>> groups;
    std::vector<uint8_t>
        swizzles;               // of each 16 bytes of shared memory: how they were copied in, + 1
    std::vector<int> registers; // a thread, by warp; 0 where it never said
    int registersIn = 0;        // the line that asked for more
    uint16_t engines = 0;       // barriers so far
    uint64_t progress = 1, gaveUpAt = 0; // events that may end a wait
    bool used = false;                   // in the running block
};

// The window of shared addresses, as 32 bits: it begins at a multiple of 1024, so that an offset
// and an address have the same bits where tiles are swizzled.
inline Addr windowOf(const Worker *w) {
    return w->shared->lo & ~(Addr)1023;
}

// hopper of the running block; it begins with the first use.
Hopper &hopperOf(Worker *w);
inline ThreadState &stateOf(Worker *w, const Fiber *f) {
    return hopperOf(w).threads[f->id];
}
uint16_t nextEngine(Worker *w);        // the copy engine's clock for a further mbarrier; 0 for none
void endHopper(Worker *w);             // of a block
void leaveHopper(Worker *w, Fiber *f); // a thread returns
bool letGiveUp(Worker *w);             // nothing else can run: waits may end in vain
std::string whoWaits(Worker *w, int *line, std::string *kind, int *otherLine);

// ---- access.cpp, trace.cpp -----------------------------------------------------
// An access of 1, 4 or 16 bytes whose traffic is counted elsewhere.
void checkUncounted(Addr a, unsigned n, Op op, Addr pc);
// A bulk copy's share of one line's counts: contiguous bytes of device or shared memory.
void countBulk(Worker *w, Addr a, uint64_t bytes, Op op, bool shared, Addr pc);

// ---- proxies.cpp ----------------------------------------------------------------
// Whether what a thread wrote has been handed over to the asynchronous units.
bool handedOver(Worker *w, const Fiber *reader, const Access &write);
void checkHandedOver(Worker *w, Addr a, unsigned n, Addr pc, const char *who);

// ---- mbarrier.cpp ---------------------------------------------------------------
Barrier &barrierAt(Worker *w, Addr a, int line, const char *what);
// What a finding about memory that a copy fills has to add: which copy, and whether the thread
// waited for a phase whose end it had seen before.
void explainPending(Worker *w, Addr a, Finding &f);
void explainEngine(Worker *w, unsigned engine, Finding &f);
void complete(Barrier &b, uint64_t bytes); // so many bytes have come
void deliver(Barrier &b);                  // makes the copies that it waits for

// ---- bulk.cpp -------------------------------------------------------------------
void perform(Worker *w, BulkCopy &c, Barrier &b);
void finishStores(Worker *w, Fiber *f, uint64_t groupsLeft);
Addr swizzled(Addr a, unsigned bytes);
inline size_t chunkOf(Worker *w, Addr a) {
    return (a - w->shared->lo) / 16;
}

// A finding that ends the kernel.
[[noreturn]] void refuseHopper(Worker *w, const char *kind, int line, const std::string &text,
                               Addr pc = 0);
void reportHopper(Worker *w, const char *check, const char *kind, int line, int otherLine,
                  const std::string &text, Addr pc = 0);

} // namespace simt

extern "C" {
void simt_copy_commit();
void simt_copy_wait(size_t groupsLeft);
}
