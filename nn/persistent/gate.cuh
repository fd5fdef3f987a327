// gate.cuh: how the threads of a persistent kernel's block wait for one another and for copies.
#pragma once

#include <cuda.h>
#include <stdint.h>

constexpr int THREADS = WARPS * 32; // that calculate; more warps ask for what these need

// All threads of the block but those of warps that ask.
__device__ void meetBlock() {
    asm volatile("bar.sync 1, %0;" : : "n"(THREADS) : "memory");
}

// It opens once for each of its phases 0, 1, 0, 1 ..., when all expected arrivals and bytes are
// there.
struct Gate {
    uint64_t state;

    __device__ uint32_t where() const { return (uint32_t)__cvta_generic_to_shared(this); }
    __device__ void setUp(int arrivals) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" : : "r"(where()), "r"(arrivals));
    }
    __device__ void arrive() {
        asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" : : "r"(where()) : "memory");
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

// Asks the copy engine for bytes, of which a gate is told when they are there. All are multiples of
// 16.
__device__ void copy(void *to, const void *from, int bytes, const Gate &gate) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                 " [%0], [%1], %2, [%3];"
                 :
                 : "r"((uint32_t)__cvta_generic_to_shared(to)), "l"(from), "r"(bytes),
                   "r"(gate.where())
                 : "memory");
}

// The same for a box of a tensor of two dimensions. It goes to a multiple of 128.
__device__ void copyBox(void *to, const CUtensorMap &map, int column, int row, const Gate &gate) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
                 " [%0], [%1, {%3, %4}], [%2];"
                 :
                 : "r"((uint32_t)__cvta_generic_to_shared(to)), "l"(&map), "r"(gate.where()),
                   "r"(column), "r"(row)
                 : "memory");
}

// What falls to the block, of so many.
struct Share {
    int first, last;
};
__device__ Share shareOf(unsigned all) {
    return {(int)(all * blockIdx.x / gridDim.x), (int)(all * (blockIdx.x + 1) / gridDim.x)};
}

// Asks the L2 cache for what somebody will read soon. Both are multiples of 16.
__device__ void prefetch(const void *from, int bytes) {
    if (bytes > 0)
        asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" : : "l"(from), "r"(bytes));
}
