// worker.h - the threads of the running block, as fibers and warps, and the worker that runs them.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "findings.h"
#include "shadow.h"

namespace simt {

struct Index3 {
    unsigned x, y, z;
};

enum class Wait : uint8_t { None, Block, Warp, Exited, Phase, Named, Group, Gather, Cluster };

struct Module; // runtime.h
struct KernelEntry;
struct Request; // traffic.h
struct Traffic;
struct Instruction; // collective.h
struct Exchange;
struct Hopper;  // hopper.h
struct Flags;   // flags.h
struct Fences;  // fences.h
struct Samples; // samples.h
struct Timeline;
struct Cluster; // cluster.h

// A copy that a thread has asked for and not yet waited for.
struct AsyncCopy {
    Addr to, from, pc;
    unsigned bytes, zeros; // the last bytes that become zero instead
    int line;
    size_t group; // how many groups the thread had committed before
};

// A load whose value nothing has used yet (overtaken.h).
struct LateRead {
    Addr a, pc;
    unsigned n;
    uint32_t epoch;
};

// What a hook was told of last, where that is asked for again (saw.cpp).
struct Told {
    Addr a;
    uint32_t bytesAndOp, epoch;
};
constexpr unsigned toldKept = 8;

struct Fiber {
    uint16_t id, warp, lane;
    uint16_t clock; // its warp clock: how often it has met others of its warp
    uint32_t met;   // the same, of meetings of every kind: what it prints is put in order by that
    // Where it is in its warp's trace of memory requests (traffic.h).
    Request *next;
    uint32_t open; // its requests in the trace
    bool full;     // they are at their bound
    Wait wait;
    Request *counted;     // up to here `occurrence` is right
    uint32_t *occurrence; // by site
    void *sp;
    char *stack;
    Addr top, deepest; // of its stack; and how far down it went
    Index3 thread;
    int line; // of the barrier it waits at
    // block barrier
    int vote, predicate;
    int *voteResult;
    // warp collective
    unsigned mask;
    int kind, source, size;
    const void *in;
    void *out;
    // asynchronous copies (asynccopy.cpp)
    std::vector<AsyncCopy> copies;
    size_t group; // committed so far
    std::vector<LateRead> late;
    bool fenced;               // it has passed a fence (flags.h)
    bool fencedAnew;           // and no clock has ticked since
    Addr looked;               // its latest volatile read, if no fence has come since
    Addr lookedAt;             // and what it read
    Addr came;                 // likewise its latest atomic
    uint32_t spins, spinsSeen; // looks with nothing between (spinning.h)
    uint64_t spunAt;           // the block's steps at the latest
    bool inFlight; // some of its variables are sums that a product has yet to fill (wgmma.cpp)
    // Barriers of the cluster (cluster.cpp), and what it has told of by a fence.
    uint64_t clusterArrived, clusterWaited;
    uint16_t clusterFenced;
    bool clusterLearned; // of a neighbour, by an mbarrier
};

struct Warp {
    uint32_t alive;
    uint32_t lanes;
    uint32_t waiting; // lanes at a block barrier or gone
    // Lanes that wait at an instruction that all have to do together (collective.h), and where.
    uint32_t arrived;
    int line;
    const Instruction *instruction;
    uint16_t known[32][32]; // known[a][b]: the clock of lane b that lane a has synchronised with
};

constexpr int maxThreads = 1024;
constexpr size_t stackSize = 256 << 10;
// The top of a stack, where accesses are passed by. It holds the frames of most kernels. What lies
// below is looked at, to know how far down a thread went (touchLocal).
constexpr size_t ownStack = 8 << 10;
#if defined(__aarch64__)
constexpr size_t guardSize = 64 << 10; // the largest page; compilers expect as much
#else
constexpr size_t guardSize = 4096;
#endif
constexpr size_t maxShared = 227 << 10;
constexpr size_t maxStatic = 48 << 10; // of it, in arrays of a fixed size

constexpr uint32_t noBlock = ~0u;

struct Print {
    uint32_t block; // linear
    uint16_t thread;
    uint64_t barriers; // of the block, so far
    uint32_t met;      // its thread's meetings with its warp, so far
    std::string text;
};

// How often the threads of a block met at the barrier of a line, and how many came in all.
struct LineBarriers {
    uint64_t met = 0, threads = 0;
};

// Lanes of a warp that returned while others had yet to come to a barrier, and what they alone did
// before (skips.cpp).
struct Skip {
    int warp;
    uint32_t gone;
    int line = 0; // of the barrier; 0 as long as nobody waits there
    std::string text;
    std::vector<Addr> did; // keys (traffic.h)
};

// What keeps a worker from going straight through the hook.
enum Attention : uint32_t { PendingValue = 1, TraceFull = 2, InCluster = 4 };

// Worker is one OS thread's share of a launch. What the hook needs at every
// access comes first.
struct alignas(64) Worker {
    Addr stackLo = 0;               // where the running thread's ownStack begins
    uint64_t steps = 0;             // of the running block
    volatile uint64_t maxSteps = 0; // 0 cancels the running block
    Region *shared = nullptr;       // of the module's shared memory on this OS thread
    Fiber *current = nullptr;
    uint32_t attention = 0; // a set of Attention
    unsigned checks = 0;
    uint64_t readNeeds = 0, writeNeeds = 0; // state bits, of each of eight bytes
    uint32_t epoch = 1, stamp = 0;          // of the interval between barriers; of the block
    Addr codeBase = 0;                      // of the module
    uint32_t *blockRuns = nullptr; // how often each basic block ran, by its offset (flops.go)
    Region arena;                  // this worker's shadow of device memory
    Warp *warps = nullptr;
    Traffic *traffic = nullptr;
    Region *data = nullptr; // of the module's variables
    Told *told = nullptr;   // toldKept of each thread, the latest first
    PendingWrite pending;
    int id = 0;
    std::map<int, Region> sharedOf, dataOf; // by module
    Module *module = nullptr;
    uint32_t blockIndex = 0;
    bool fenced = false, synchronised = false; // of the running block
    bool meeting = false, ordered = false;     // within an atomic; and nobody else is
    uint64_t allSteps = 0, barriers = 0;
    std::map<int, LineBarriers> barriersAt; // by line
    std::vector<Skip> skips;                // of the running block
    std::vector<int> endedBefore; // lines of its barriers that some ended before (skips.cpp)
    uint64_t longest = 0;         // steps of the longest block of this launch
    std::vector<std::pair<uint32_t, uint64_t>>
        ofSample;          // each block that ran, and its steps, where others did not
    uint64_t mostRead = 0; // the most that one block of it read, of device memory and of others'
                           // shared memory
    uint64_t spilled = 0;  // bytes of local memory in this launch that no registers could hold
    Fiber *fibers = nullptr;
    Exchange *exchanges = nullptr; // by warp
    int threads = 0, alive = 0, atBarrier = 0, exited = 0;
    int gathering = 0; // lanes that wait to see who comes along
    uint16_t *queue = nullptr;
    uint32_t head = 0, tail = 0;
    void *mainStack = nullptr;
    bool stopped = false;   // the running block
    bool cancelled = false; // it was, because of another
    uint32_t metGridIn = 0; // the interval in which it came to a barrier of the grid
    int guarded = 0;        // stacks
    const KernelEntry *kernel = nullptr;
    void **args = nullptr;
    size_t dynamicBytes = 0;
    std::map<int, uint32_t *> blockRunsOf; // by module
    std::vector<uint32_t> blocksSeen;
    // What the blocks of this launch reported, in their order.
    std::vector<Finding> found;
    // What they printed (prints.cpp), and the first block that lost some of it.
    std::vector<Print> printed;
    size_t printedBytes = 0;
    uint32_t unprinted = noBlock;
    std::map<FindingKey, size_t> foundBy;
    std::vector<Repeat> repeats;
    Again again[64] = {}; // by a hash: the latest
    uint32_t blockEpoch = 0;
    Flags *flags = nullptr;    // of this launch
    Fences *fences = nullptr;  // of the running block
    Addr strong = 0;           // where its next access is a strong one of PTX's (flags.h)
    Hopper *hopper = nullptr;  // kept from block to block
    bool usesHopper = false;   // the running block
    uint16_t *order = nullptr; // of its threads (order.h), or null
    uint16_t *orderRoom = nullptr;
    Cluster *cluster = nullptr;            // of the running block
    unsigned rank = 0, yields = 0;         // in it
    uint64_t products = 0, multiplied = 0; // wgmma's operations; tensor cores' warp instructions
    uint64_t groups = 0, groupSteps = 0;   // wgmma, and products of 16 × 8 by 32 bytes in them
    Samples *samples = nullptr;            // of this launch, for who asked
    Timeline *timeline = nullptr;          // of the running block, if that is the one to draw
    uint32_t drawn = noBlock;              // that block
    uint32_t overfull = 0;                 // a set of Table (tables.h), of this launch
    // Others read these: whether it has a block, and how often all of that spun (spinning.h).
    volatile bool busy = false;
    volatile uint32_t allSpun = 0;
};

extern __thread Worker *worker; // null while no kernel runs

// ownLocal tells whether an address is on the running thread's stack, none of whose variables is a
// sum that a product has yet to fill.
inline bool ownLocal(const Worker *w, Addr a) {
    return a - (Addr)w->current->stack < stackSize && !w->current->inFlight;
}
extern std::vector<Worker *> workers;

} // namespace simt
