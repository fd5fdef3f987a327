// wgmma.h - products of warpgroups: what the parts of wgmma share.
#pragma once
#include "hopper.h"

namespace simt {

// What the factors are; include/simt/hopper.h and ptx/wgmma.go number them alike.
enum Factor : unsigned { F16, BF16, TF32, E4M3, E5M2, S8, U8 };
enum SumType : unsigned { SumF32, SumF16, SumS32 };

// One instruction, as its text says: packed into 32 bits.
struct Form {
    unsigned columns, a, b, sum; // columns of b and of the sums; types
    bool fromRegisters, transposeA, transposeB, negateA, negateB, saturate;
    explicit Form(unsigned code)
        : columns(code & 511), a(code >> 9 & 7), b(code >> 12 & 7), sum(code >> 15 & 3),
          fromRegisters(code >> 17 & 1), transposeA(code >> 18 & 1), transposeB(code >> 19 & 1),
          negateA(code >> 20 & 1), negateB(code >> 21 & 1), saturate(code >> 22 & 1) {}
    // All factors' rows are 32 bytes deep.
    unsigned depth() const { return a == TF32 ? 8 : a <= BF16 ? 16 : 32; }
    unsigned registers() const { return columns / (sum == SumF16 ? 4 : 2); } // a thread
};

// A matrix in shared memory, as a descriptor has it. Rows are of 32 bytes, which are two chunks; a
// transposed one has chunks of 8 numbers along the columns.
struct Tile {
    Addr start;
    uint64_t leading, stride; // bytes
    unsigned swizzle;         // bytes
    bool transposed;
    unsigned rows;
    unsigned chunks() const { return 2 * rows; }
    Addr chunk(unsigned i) const;
};
Tile tileOf(Worker *w, uint64_t descriptor, unsigned rows, bool transposed, int line);

struct Brought {   // by one thread
    uint64_t a, b; // descriptors
    uint32_t words[4];
    int adds;
    uint32_t *const *sums; // where its sums are
};

// Sums that are on their way into registers. While they are, the registers hold `unfilled`.
struct Sums {
    unsigned registers, columns, type;
    std::vector<uint32_t *> places; // by thread and register
    std::vector<float> values;      // [4 warps][columns / 8][16][8]; integers by their bits
    uint8_t inFlight = 0, told = 0; // a bit a warp; told: that somebody touched them
    size_t last = 0;                // of the products that add to them
    Addr pc = 0;
    int line = 0;
};

struct Product {
    Tile a, b;
    bool aInShared;
    Addr pc;
    int line;
};

struct WarpGroup {
    Brought brought[128];
    unsigned there = 0, code = 0; // who waits at the instruction in `line`
    int line = 0;
    uint16_t first = 0;
    std::vector<std::shared_ptr<Sums>> sums;
    std::vector<Product> products;
    std::vector<size_t> groups[4]; // by warp: how many products there were at each commit
    size_t done = 0;               // products that some warp has waited for
    bool fenced[4] = {};
};

WarpGroup &groupOf(Worker *w, const Fiber *f);
inline uint8_t bitOf(unsigned warp) {
    return (uint8_t)(1u << warp);
}

// ---- wgmmaregisters.cpp ---------------------------------------------------------
// What the products so far have left for these registers, or what the registers hold.
Sums &sumsOf(Worker *w, WarpGroup &g, const Form &f, unsigned firstThread, int line);
// Gives a warp the sums of all products before `done`.
void fill(Worker *w, WarpGroup &g, unsigned firstThread, unsigned warp, size_t done);
void leaveProducts(Worker *w, Fiber *f);

// ---- wgmmatiles.cpp -------------------------------------------------------------
// All four warps read a product's tiles: it begins, or some warp has waited for it, and then it is
// done as a whole. `number` counts the warpgroup's products.
void readTiles(Worker *w, const Product &p, size_t number, bool begins);
void knowProducts(Worker *w, size_t done); // the running thread knows that so many are done
void gather(const Tile &t, uint8_t *rows); // [rows][32 bytes]

// ---- wgmmasums.cpp --------------------------------------------------------------
void multiply(const Form &f, const uint8_t *a, const uint8_t *b, float *sums);
float fromHalfBits(uint16_t code);
uint16_t toHalfBits(float v);

} // namespace simt
