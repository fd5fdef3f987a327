// schedule.h - what the scheduler's parts share.
#pragma once
#include "runtime.h"

extern "C" __thread simt::Addr simt_own_stack;

namespace simt {

constexpr uint32_t queueMask = 2 * maxThreads - 1;
constexpr Addr noStack = (Addr)1 << 63; // where no thread's is

inline Addr ownStackOf(const Fiber *f) {
    return (Addr)f->stack + stackSize - ownStack;
}

// setOwnStack says where the running thread's local memory is, to the hooks and to the code that
// watch.go puts before their calls.
inline void setOwnStack(Worker *w, Addr lo) {
    w->stackLo = simt_own_stack = lo;
}

void push(Worker *w, uint16_t id);   // lets a thread run again
void enter(Worker *w, Fiber *f);     // makes it the running one
void laneWaits(Worker *w, int warp); // at a block barrier, or gone
void reschedule(Worker *w);          // leaves the running thread, whose wait is set
bool tryWarp(Worker *w, Fiber *f);   // runs a collective once its lanes are there
void gatherLanes(Worker *w);         // when no other thread can run
// A block (block.cpp): where its threads lie in it, and all of them ready to run.
void placeThreads(Worker *w, Index3 block);
void startBlock(Worker *w, Module *m);
Finding syncFinding(const char *kind, int line);
std::string threadName(const Fiber &f);
// "1 thread waits", "2 threads of block 0 wait".
std::string waiting(int n, const std::string &of = "");

} // namespace simt
