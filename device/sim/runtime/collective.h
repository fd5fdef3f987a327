// collective.h - instructions that all 32 lanes of a warp do together, at one place of the program
// (tensorcore.cpp).
#pragma once
#include "runtime.h"

namespace simt {

// What the lanes of a warp exchange: each writes and reads its own places.
struct alignas(64) Exchange {
    uint32_t a[16][8], b[8][8]; // a's rows, b's columns: two 16-bit numbers a word, or one of tf32
    float d[16][8];
    Addr row[32];
    uint32_t r[32][4];
};

struct Instruction {
    const char *name;
    void (*work)(Exchange &x); // done once, when all are there
    bool product = false;      // of tensor cores: counted
};

// aligned waits for all lanes of the warp, and returns when the work is done.
void aligned(Worker *w, const Instruction &i, int line);

// requireAll ends the kernel where a lane is missing; `any` is one that is there.
void requireAll(Worker *w, Fiber *const *lane, const Fiber *any, const char *what);

// checkRow ends the kernel unless an address is one of a row of 16 bytes in shared memory.
void checkRow(Worker *w, const Instruction &i, Addr a, int line);

} // namespace simt
