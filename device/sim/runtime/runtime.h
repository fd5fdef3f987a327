// runtime.h - what the parts of the simulator share.
//
// A CUDA thread is a fiber. The blocks of a launch run one after another on
// one OS thread, so that findings and counts are the same on every run. The
// compiler's thread-sanitizer instrumentation (without its library) calls
// access.cpp for every load and store of a kernel: that one hook carries all
// checks and counts.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace simt {

typedef uintptr_t Addr;

struct Index3 {
    unsigned x, y, z;
};

// ---- checks, set by the host ------------------------------------------------
enum Check : unsigned { MEM = 1, RACE = 2, INIT = 4, SYNC = 8, TRAFFIC = 16 };

enum Op : int { READ = 0, WRITE = 1, ATOMIC = 2 };

// ---- shadow memory ----------------------------------------------------------
// One state byte for each byte of memory.
// PENDING: an asynchronous copy into it has not been waited for.
enum State : uint8_t { LIVE = 1, INITIALISED = 2, FREED = 4, CONSTANT = 8, PENDING = 16 };

// One remembered access. An epoch ends at every block barrier and every block,
// so equal epochs mean: nothing ordered these two, unless a warp barrier did.
struct Access {
    uint32_t epoch;
    uint32_t pc;     // relative to the module's base
    uint32_t block;  // linear block index, for the message
    uint16_t thread; // linear index in its block
    uint16_t clock;  // the lane's own warp clock then
    uint8_t mask;    // which of the 4 bytes
    uint8_t atomic;
};

// The race detector's memory of 4 bytes: the last write and two readers.
struct Cell {
    Access write, read1, read2;
};

enum class Space { Global, Shared, Module };

struct Region {
    Addr lo = 0, hi = 0;
    uint8_t *state = nullptr;
    Cell *cells = nullptr;
    Space space = Space::Global;
    bool holds(Addr a) const { return a - lo < hi - lo; }
};

// ---- compiled kernels ---------------------------------------------------------
// The table that the shim writes at the end of every module (include/simt/kernel.h).
struct KernelEntry {
    const char *name;
    void (*call)(void **args);
    int count;                   // of parameters
    const unsigned short *sizes; // bytes each
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
    Region data;      // __device__ and __constant__ variables
    size_t tlsModule; // the loader's number for this module's thread-local block
    size_t tlsSize;   // bytes of that block: all shared memory
    size_t dynamicAt; // offset of the dynamic shared window in it
    Region shared;    // shadow of that block on this OS thread
    void *(*touchShared)();
};

// ---- running threads -----------------------------------------------------------
enum class Wait : uint8_t { None, Block, Warp, Exited };

// A copy that a thread has asked for and not yet waited for.
struct AsyncCopy {
    Addr to, from, pc;
    unsigned bytes, zeros; // the last bytes that become zero instead
    int line;
    size_t group; // how many groups the thread had committed before
};

struct Fiber {
    void *sp;
    char *stack;
    Index3 thread;
    uint16_t id, warp, lane;
    Wait wait;
    int line; // of the barrier it waits at
    // block barrier
    int vote, predicate;
    int *voteResult;
    // warp collective
    unsigned mask;
    int kind, source, size;
    const void *in;
    void *out;
    uint32_t *occurrence; // by site, since the last flush (traffic.cpp)
    bool full;            // one of them has reached its bound
    // asynchronous copies (asynccopy.cpp)
    std::vector<AsyncCopy> copies;
    size_t group; // committed so far
};

struct Warp {
    uint32_t alive;
    uint32_t lanes;
    uint32_t waiting;       // lanes at a block barrier or gone
    uint16_t known[32][32]; // known[a][b]: the clock of lane b that lane a has synchronised with
};

constexpr int maxThreads = 1024;
constexpr size_t stackSize = 256 << 10;
constexpr size_t guardSize = 4096;
constexpr size_t maxShared = 227 << 10;

// Worker is one OS thread's share of a launch.
struct Worker {
    Fiber *current = nullptr;
    Addr stackLo = 0;
    Region *shared = nullptr;
    Module *module = nullptr;
    unsigned checks = 0;
    uint32_t epoch = 1, blockEpoch = 0, launchEpoch = 0;
    uint32_t blockIndex = 0;
    uint64_t steps = 0, maxSteps = 0;
    Fiber *fibers = nullptr;
    Warp *warps = nullptr;
    int threads = 0, alive = 0, atBarrier = 0, exited = 0;
    uint16_t *queue = nullptr;
    uint32_t head = 0, tail = 0;
    void *mainStack = nullptr;
    bool stopped = false;
    const KernelEntry *kernel = nullptr;
    void **args = nullptr;
    size_t dynamicBytes = 0;
    uint64_t barriers = 0;
};

extern __thread Worker *worker; // null while no kernel runs
extern Worker theWorker;

[[noreturn]] void stopKernel(Worker *w); // leaves the fiber for good

// ---- memory.cpp -----------------------------------------------------------------
extern Region arena;
void initMemory(uint64_t limit);
bool allocate(uint64_t bytes, const std::string &name, Addr *out, std::string *error);
bool release(Addr a, std::string *error);
void releaseAll();
bool withinAllocation(Addr a, uint64_t bytes, std::string *error);
void setState(Addr a, uint64_t bytes, bool initialised);
bool firstUninitialised(Addr a, uint64_t bytes, uint64_t *offset);
void *reserve(size_t bytes);

struct Place {
    std::string space, name, owner;
    uint64_t offset = 0, size = 0;
    std::string note;
};
Place describe(Worker *w, Addr a);

// ---- module.cpp -----------------------------------------------------------------
Module *loadModule(const std::string &path, const std::vector<std::string> &constants,
                   std::string *error);
Module *moduleById(int id);
const KernelEntry *findKernel(Module *m, const std::string &name);
bool takesShared(Module *m, const KernelEntry *k, const Symbol &s);
size_t staticShared(Module *m, const KernelEntry *k);
bool prepareShared(Module *m, std::string *error);

// ---- schedule.cpp -----------------------------------------------------------------
struct LaunchShape {
    Index3 grid, block;
    uint64_t dynamicBytes;
};
enum class LaunchResult { Done, Stopped, Refused };
LaunchResult launch(Module *m, const KernelEntry *k, const LaunchShape &s, void **args,
                    std::string *error);
void initScheduler();
void yieldThread(Worker *w); // lets every other thread that can run go first

// ---- traffic.cpp -----------------------------------------------------------------
void recordTraffic(Worker *w, Addr a, unsigned n, Op op, bool shared, Addr pc);
void flushWarp(Worker *w, int warp);
void makeRoom(Worker *w);
void endTraffic(Worker *w);
std::string trafficJson();
void resetTraffic();

// ---- findings.cpp -----------------------------------------------------------------
struct Finding {
    std::string check, kind;
    Addr pc = 0, otherPc = 0;
    int line = 0, otherLine = 0; // where the code told its line (barriers)
    Op op = READ;
    unsigned bytes = 0;
    Place place;
    bool hasOther = false, otherBlockDiffers = false;
    Op otherOp = READ;
    uint32_t otherBlock = 0;
    int otherThread = -1;
    std::string text;
    bool fatal = false;
};
void report(Worker *w, Finding f);
std::string findingsJson();
void resetFindings();
extern std::string printed; // what kernels printed, bounded

// ---- collective.cpp -------------------------------------------------------------
bool sameGathering(const Fiber *a, const Fiber *b);
void gather(Worker *w, Fiber *const *lane);

// ---- asynccopy.cpp ----------------------------------------------------------------
void endCopies(Worker *w, Fiber *f);

// ---- access.cpp -----------------------------------------------------------------
void checkAccess(Addr a, unsigned n, Op op, Addr pc);
void recordRace(Worker *w, Region *r, Addr a, unsigned n, Op op, Addr pc);
void settleWrites(Worker *w);

// ---- signals.cpp ----------------------------------------------------------------
void initSignals();
void armTimer(uint64_t milliseconds); // 0 disarms

} // namespace simt
