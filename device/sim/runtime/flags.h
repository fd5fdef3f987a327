// flags.h - what is no race although nothing orders it in the way of barriers: a volatile flag
// with a fence on either side, and the plain read before a compare-and-swap, which become notes;
// strong accesses of PTX's to one word; and an atomic with a fence on either side.
#pragma once
#include <array>
#include <map>
#include <set>

#include "runtime.h"
#include "spinning.h"

namespace simt {

// Flags is what a worker has seen of this in one launch: instructions, by their addresses.
struct Flags {
    std::set<Addr> raised;   // volatile writes behind a fence
    std::set<Addr> seen;     // volatile reads before one
    std::set<Addr> compared; // reads whose thread then came to a compare-and-swap there
    std::set<Addr> strong;   // PTX's relaxed, acquiring and releasing accesses
    // What those knew who raised a flag in the running block (order.h).
    std::vector<uint16_t> known;
    // Likewise those who came to an atomic behind a fence, by what it is for: a lock, say.
    std::map<Addr, std::vector<uint16_t>> atomics;
    uint32_t blockEpoch = 0;
    // The latest volatile reads of a thread: who comes back to one of them spins.
    struct Look {
        Addr at, pc;
    };
    std::array<Look, 32> looks;
    size_t looked = 0;
    const Fiber *looking = nullptr;
    Spinning spinning;
};

void look(Addr a, Addr pc);            // before a volatile read
void raise(Addr a, Addr pc);           // after a volatile write was judged
void acquireBy(Worker *w, bool block); // by a fence behind a load
void fenceOf(Worker *w, bool block);
void handOver(Worker *w, Addr a); // within a block, by an atomic between two fences
void compares(Worker *w, Addr a); // before a compare-and-swap is judged
// noteRaces takes out the races that are none, or turns them into notes, when a launch is over.
void noteRaces(std::vector<Finding> &all);

} // namespace simt
