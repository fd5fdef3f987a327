// runtime.h - what the parts of the simulator share.
//
// A CUDA thread is a fiber, and a Worker runs whole blocks: one OS thread each.
// Findings and counts are kept by block and worker, and put together when the
// launch is over, so they do not depend on which worker ran what when. The
// compiler's thread-sanitizer instrumentation (without its library) calls
// hooks.cpp for every load and store of a kernel: that one hook carries all
// checks and counts.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "worker.h"

#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)
#define COLD [[gnu::noinline, gnu::cold]]
#define INLINE inline __attribute__((always_inline))

namespace simt {

constexpr unsigned sectorBytes = 32; // what a GPU moves memory in

// ---- checks, set by the Go side ---------------------------------------------
enum Check : unsigned { MEM = 1, RACE = 2, INIT = 4, SYNC = 8, TRAFFIC = 16 };

// ---- compiled kernels ---------------------------------------------------------
// The table that the shim writes at the end of every module (include/simt/kernel.h).
struct KernelEntry {
    const char *name;
    void (*call)(void **args);
    int count;                   // of parameters
    const unsigned short *sizes; // bytes each
    const char *kinds;           // each a pointer, int, unsigned, float or other: p i u f o
    void *address;
    unsigned cluster[3]; // its __cluster_dims__, or 0
    unsigned bounds[2];  // its __launch_bounds__: threads, blocks of a multiprocessor; or 0
};

struct Symbol {
    std::string name;
    Addr lo, hi; // absolute for data; offset in the thread-local block for shared
    bool shared;
    std::string owner; // of a function's own variable: "softmax"
};

struct Module {
    int id;
    Addr base, end;
    std::vector<Symbol> symbols;
    const KernelEntry *kernels;
    Region data;      // __device__ and __constant__ variables; shadows: Worker
    uint8_t *written; // by sector of these: whether the running launch wrote there
    size_t tlsModule; // the loader's number for this module's thread-local block
    size_t tlsSize;   // bytes of that block: all shared memory
    size_t dynamicAt; // offset of the dynamic shared window in it
    void *(*touchShared)();
};

[[noreturn]] void stopKernel(Worker *w); // leaves the fiber for good

// ---- memory.cpp -----------------------------------------------------------------
extern Region arena;
void initMemory(uint64_t limit, bool races);
bool allocate(uint64_t bytes, const std::string &name, Addr *out, std::string *error);
bool release(Addr a, std::string *error);
void releaseAll();
uint64_t heldBytes(); // of all that is allocated
bool withinAllocation(Addr a, uint64_t bytes, std::string *error);
void setState(Addr a, uint64_t bytes, bool initialised);
bool firstUninitialised(Addr a, uint64_t bytes, uint64_t *offset);
void *reserve(size_t bytes);
void dropShadow(Addr lo, uint64_t bytes);

// ---- heap.cpp ---------------------------------------------------------------------
// The end of the range is the kernels' own, of which so much can be in use: CUDA's default.
constexpr uint64_t heapRange = 64 << 20, heapLimit = 8 << 20;
void emptyHeap();
uint64_t heapPeak(); // bytes that were in use at once since the last call
bool describeHeap(Addr a, Place *p);

void shadow(Region *r, bool betweenBlocks); // reserves a worker's shadow of it
Place describe(Worker *w, Addr a);
void describeAllocation(Worker *w, Addr a, Place *p);

// ---- module.cpp -----------------------------------------------------------------
Module *loadModule(const std::string &path, const std::vector<std::string> &constants,
                   std::string *error);
Module *moduleById(int id);
const KernelEntry *findKernel(Module *m, const std::string &name);
bool takesShared(Module *m, const KernelEntry *k, const Symbol &s);
size_t staticShared(Module *m, const KernelEntry *k);
size_t ownShared(Module *m, const KernelEntry *k); // without the arrays of functions it may call
bool prepareModule(Worker *w, Module *m, std::string *error);

// ---- variables.cpp --------------------------------------------------------------
Module *moduleAt(Addr a); // that has a variable there
const Symbol *variableNamed(const Module *m, const std::string &name);
bool withinVariable(Addr a, uint64_t bytes);
void forgetUnset(Module *m, const std::vector<std::string> &unset);

// ---- launch.cpp, barriers.cpp, warps.cpp ------------------------------------------
struct LaunchShape {
    Index3 grid, block, cluster;
    uint64_t dynamicBytes;
    bool cooperative;
};
enum class LaunchResult { Done, Stopped, Refused };
// shape.cpp
LaunchShape withOwn(const KernelEntry *k, LaunchShape s);
bool possible(Module *m, const KernelEntry *k, const LaunchShape &s, std::string *error);
LaunchResult launch(Module *m, const KernelEntry *k, const LaunchShape &s, void **args,
                    std::string *error);
void initScheduler(int threads, unsigned checks);
void limitSteps(uint64_t most);   // of a block
void sampleBlocks(uint32_t most); // of each launch; 0: all of them run
bool samplesBlocks();             // not all of them do
void yieldThread(Worker *w);      // lets every other thread that can run go first

// ---- trace.cpp, traffic.cpp -----------------------------------------------------------------
void startTrace(Worker *w, Fiber *f);
void flushWarp(Worker *w, int warp);
void makeRoom(Worker *w);
void flushOpen(Worker *w);  // after a kernel was stopped
void countBlock(Worker *w); // that has ended
void endTraffic(Module *m, const KernelEntry *k, const LaunchShape &s, uint64_t ran);
void modelCache(); // of all workers that are hired from now on
Traffic *newTraffic();
void initTraffic(); // once the arena is there
std::string trafficJson();
void resetTraffic();

// ---- findings.cpp -----------------------------------------------------------------
void report(Worker *w, Finding f);
bool seenBefore(Worker *w, const char *kind, Addr pc, Addr otherPc, Addr at = 0,
                bool oneWarp = false);
std::string findingsJson();
void resetFindings();
void endFindings(Module *m, const KernelEntry *k, const LaunchShape &s, uint32_t lastBlock);

// ---- collective.cpp -------------------------------------------------------------
bool sameGathering(const Fiber *a, const Fiber *b);
void gather(Worker *w, Fiber *const *lane);

// ---- asynccopy.cpp ----------------------------------------------------------------
// explainCopy says who asked for the copy that has yet to fill some of n bytes at a.
void explainCopy(Worker *w, Addr a, unsigned n, Finding &f);
void endCopies(Worker *w, Fiber *f);

// ---- between.cpp ----------------------------------------------------------------
void startBetween(uint32_t blocks);
uint32_t stampOf(uint32_t block);
void endBetween(Module *m, uint32_t lastBlock);

// ---- releases.cpp ---------------------------------------------------------------
void fence(Worker *w);
void meet(Worker *w); // before an atomic
void met(Worker *w);  // after it

// ---- access.cpp -----------------------------------------------------------------
void checkAccess(Addr a, unsigned n, Op op, Addr pc);
Finding accessFinding(const char *check, const char *kind, Addr pc, Op op, unsigned n, Place place);

// ---- races.cpp --------------------------------------------------------------------
void recordRace(Worker *w, Region *r, Addr a, unsigned n, Op op, Addr pc);
void settleWrites(Worker *w);

// ---- signals.cpp ----------------------------------------------------------------
void initSignals();
void useSignalStack(); // of the calling OS thread
void startTimer(uint64_t milliseconds);
void stopTimer();

} // namespace simt
