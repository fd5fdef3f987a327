// stream.cuh: where weights come from, and how blocks wait for one another. persistent.cu tells
// what for.
#pragma once

#include <stdint.h>
#ifdef WHOLE_GRID
#include <cooperative_groups.h>
#endif

constexpr int DIM = WIDTH / HEADS, THREADS = WARPS * 32;
constexpr int REFILLER =
    32; // the thread that asks for weights: of warp 1, for warp 0 has enough to do
constexpr int PIECES = (WIDTH / 4 + 31) / 32; // float4 of a vector [WIDTH] that a lane holds

// Where things are: for each layer, then for the model.
enum { GAIN1, SHIFT1, QKV, QKV_BIAS, OUT, OUT_BIAS, GAIN2, SHIFT2, UP, UP_BIAS, DOWN, DOWN_BIAS };
enum { KEYS = DOWN_BIAS + 1, VALUES, OF_LAYER };
enum { TOKENS = LAYERS * OF_LAYER, POSITIONS, GAIN, SHIFT, ADDRESSES };

// --- Weights

// It opens once for each of its phases 0, 1, 0, 1 ..., when all expected arrivals and bytes are
// there.
struct Gate {
    uint64_t state;

    __device__ uint32_t where() const { return (uint32_t)__cvta_generic_to_shared(this); }
    __device__ void setUp(int arrivals) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" : : "r"(where()), "r"(arrivals));
    }
    __device__ void arriveWith(int bytes) {
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                     :
                     : "r"(where()), "r"(bytes)
                     : "memory");
    }
    // Before phase 0, phase 1 counts as past.
    __device__ void pass(int phase) {
        for (uint32_t open = 0; !open;)
            asm volatile("{\n"
                         ".reg .pred opened;\n"
                         "mbarrier.try_wait.parity.shared::cta.b64 opened, [%1], %2;\n"
                         "selp.u32 %0, 1, 0, opened;\n"
                         "}"
                         : "=r"(open)
                         : "r"(where()), "r"(phase)
                         : "memory");
    }
};

// The block's rows of a matrix.
struct Share {
    int first, last;
};
__device__ Share shareOf(unsigned rows) {
    return {(int)(rows * blockIdx.x / gridDim.x), (int)(rows * (blockIdx.x + 1) / gridDim.x)};
}

// Asks the L2 cache for what somebody will read soon. Both are multiples of 16.
__device__ void prefetch(const void *from, int bytes) {
    if (bytes > 0)
        asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" : : "l"(from), "r"(bytes));
}

// The same for what is no matrix of a layer, and small or old: the block's share of the vectors for
// norms and of biases, and of the keys and values of tokens before this one.
__device__ void prefetchLayer(float *const *addresses, int tokens) {
    for (int i = blockIdx.x; i < KEYS; i += gridDim.x)
        if (i != QKV && i != OUT && i != UP && i != DOWN)
            prefetch(addresses[i], (i == QKV_BIAS ? 3 * WIDTH : i == UP_BIAS ? INNER : WIDTH) * 4);
    const Share old = shareOf(tokens);
    for (int i = KEYS; i <= VALUES; i++)
        prefetch(addresses[i] + (size_t)old.first * WIDTH, (old.last - old.first) * WIDTH * 4);
}

// Rows of a length that make a chunk: what is copied at once, to one slot. A round has at most 32.
__host__ __device__ constexpr int tall(int in) {
    return SLOT / in < 32 / ROUND ? SLOT / in : 32 / ROUND;
}

// The block's rows of all matrices in the order of their use, as chunks 0, 1, 2 ... Chunk n goes to
// slot n % SLOTS. A chunk never has rows of two matrices.
//
// What comes next, in shared memory; one thread uses it.
struct Next {
    int chunk, matrix, in; // in: how long the matrix's rows are
    Share left;            // of these
};
// Fills the slots that are free: up to chunk `until`. ring is [SLOTS, SLOT], full [SLOTS].
__device__ __noinline__ void refill(Next *next, int until, float *ring, Gate *full,
                                    float *const *addresses, int vocabulary) {
    for (; next->chunk < until; next->chunk++) {
        while (next->left.first == next->left.last) { // the block may have no row of a matrix
            if (next->matrix == 4 * LAYERS) return;
            const int kind = ++next->matrix % 4, rows = kind == 0   ? 3 * WIDTH
                                                        : kind == 2 ? INNER
                                                                    : WIDTH;
            next->in = kind == 3 ? INNER : WIDTH;
            next->left = shareOf(next->matrix == 4 * LAYERS ? vocabulary : rows);
        }
        const int matrix = next->matrix, kind = matrix % 4, in = next->in,
                  slot = next->chunk % SLOTS;
        const int place = kind == 0 ? QKV : kind == 1 ? OUT : kind == 2 ? UP : DOWN;
        const float *w =
            addresses[matrix == 4 * LAYERS ? (int)TOKENS : matrix / 4 * OF_LAYER + place];
        const int count =
            min(kind == 3 ? tall(INNER) : tall(WIDTH), next->left.last - next->left.first);
        full[slot].arriveWith(count * in * 4);
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                     " [%0], [%1], %2, [%3];"
                     :
                     : "r"((uint32_t)__cvta_generic_to_shared(ring + slot * SLOT)),
                       "l"(w + (size_t)next->left.first * in), "r"(count * in * 4),
                       "r"(full[slot].where())
                     : "memory");
        next->left.first += count;
    }
}

// What all threads know of it.
struct Stream {
    Next *next;
    float *ring;
    Gate *full;
    float *const *addresses;
    int vocabulary;
    int taken = 0; // chunks that all of the block are done with

    // Only REFILLER calls it, behind a barrier of the block.
    __device__ void ask() { refill(next, taken + SLOTS, ring, full, addresses, vocabulary); }

    // Row r of those that are not taken, when it is there.
    template <int IN> __device__ const float *row(int r) {
        const int chunk = taken + r / tall(IN), slot = chunk % SLOTS;
        full[slot].pass(chunk / SLOTS & 1);
        return ring + slot * SLOT + r % tall(IN) * IN;
    }
};

// --- Meetings of the grid

// A count that only rises: each block adds 1 when it has written what the others wait for, and goes
// on when all have. The last block of a launch sets it to 0 again.
struct Meeting {
    unsigned *count;
    unsigned target = 0; // when all are there

    // Warp 0 calls it, which writes all that a block hands over.
    __device__ void arrive() {
#ifndef WHOLE_GRID
        __syncwarp(); // all lanes have written, and thread 0 releases that with its own
        if (threadIdx.x == 0)
            asm volatile("red.release.gpu.global.add.u32 [%0], 1;" : : "l"(count) : "memory");
#endif
    }
    // All threads call it. What blocks wrote before they arrived can be read behind it.
    __device__ void wait() {
#ifdef WHOLE_GRID // the same by the library, whose barriers the simulator tells apart one by one
        cooperative_groups::this_grid().sync();
#else
        target += gridDim.x;
        if (threadIdx.x == 0)
            for (unsigned there = 0; there < target;)
                asm volatile("ld.acquire.gpu.global.u32 %0, [%1];"
                             : "=r"(there)
                             : "l"(count)
                             : "memory");
        __syncthreads();
#endif
    }
};
