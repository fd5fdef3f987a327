// shadow.h - what the simulator remembers of each byte and word of memory.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace simt {

typedef uintptr_t Addr;

enum Op : int { READ = 0, WRITE = 1, ATOMIC = 2 };

// One state byte for each byte of memory.
// PENDING: an asynchronous copy into it has not been waited for.
enum State : uint8_t { LIVE = 1, INITIALISED = 2, FREED = 4, CONSTANT = 8, PENDING = 16 };

// eachByte is a state in all of eight bytes.
constexpr uint64_t eachByte(uint8_t state) {
    return 0x0101010101010101ull * state;
}

// One remembered access of this block, in 12 bytes. An epoch ends at every block
// barrier and every block, so equal epochs mean: nothing ordered these two,
// unless a warp barrier did.
struct Access {
    uint32_t epoch;
    uint32_t pc;    // relative to the module's base
    uint16_t who;   // thread's linear index in its block, then mask, then atomic
    uint16_t clock; // the lane's own warp clock then

    static constexpr int maskShift = 11, atomicShift = 15;
    unsigned thread() const { return who & 2047u; } // or engine (order.h)
    unsigned warp() const { return thread() >> 5; }
    unsigned mask() const { return who >> maskShift & 15u; } // which of the 4 bytes
    bool atomic() const { return who >> atomicShift & 1u; }
};

// The race detector's memory of 4 bytes within a block: the last write and two
// readers.
struct Cell {
    Access write, read1, read2;
};

// One access as other blocks see it: between.cpp.
struct Seen {
    uint32_t stamp; // tells launch and block
    uint32_t pc;    // relative to the module's base
    uint32_t value; // that a write left behind
    // Whose it is, between which of its block's barriers, and its warp clock then (releases.cpp).
    uint16_t thread, interval, clock;
    uint16_t mask : 4;
    // Bit 0: the block had met another through an atomic before. Above: barriers of the cluster
    // that its thread had come to, and those that it had left (between.cpp).
    uint16_t synchronised : 12;
    unsigned phase() const { return synchronised >> 1; }
};
constexpr unsigned lastPhase = 2047; // and all behind it

// The first accesses to 4 bytes by two different blocks of those a worker ran.
struct Between {
    Seen write[2], read[2], atomic[2];
};

struct CrossCell; // cluster.h

enum class Space { Global, Shared, Module };

// A range of memory, and one worker's shadow of it.
struct alignas(64) Region {
    Addr lo = 0, hi = 0;
    uint8_t *state = nullptr; // the same for all workers
    // For each 4 bytes the epoch in which no further reader matters: any writer
    // is convicted already, and no write of this epoch can convict a reader.
    uint32_t *settled = nullptr;
    Cell *cells = nullptr;
    Between *between = nullptr; // null for shared memory
    CrossCell *cross = nullptr; // of shared memory, once a cluster needs it
    uint8_t *touched = nullptr; // pages of `between` that this launch used
    Space space = Space::Global;
    std::vector<uint32_t> pages; // the same as a list
    bool holds(Addr a) const { return a - lo < hi - lo; }
};
constexpr int pageShift = 12; // of `touched`: 4 KB of memory

// A write whose value the hook could not see yet, for it runs before the write.
struct PendingWrite {
    Seen *seen = nullptr; // wants the value
    Addr seenAt;
    bool conflicts = false; // with `other`, if the value changes
    int thread;             // whose write it is
    bool readFirst;         // that thread has read there since the last barrier
    Addr a, pc;
    unsigned n;
    unsigned char old[16];
    Access other;
};

} // namespace simt
