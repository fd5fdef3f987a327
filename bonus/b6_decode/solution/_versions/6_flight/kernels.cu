// Decoding in halves, with loads in flight: each thread asks for its 16 bytes of the next keys and
// values STAGES - 1 turns ahead, by cp.async, into a ring in shared memory. It reads back only what
// it asked for itself, so it waits for no other thread. For the rest it is 5_split: a block has one
// key head of one sequence and up to 4 query heads, a group of DIM / 8 threads takes a key at a
// time, and several blocks may share the keys.

constexpr int WARPS = 8, THREADS = 32 * WARPS;
constexpr int HEADS = 4;  // query heads of a block, at most
constexpr int STAGES = 6; // of the ring
#include "parts.cuh"

// A copy of 16 bytes to shared memory that nobody waits for yet; zeros if it is not there.
__device__ void copy(uint4 *to, const Half *from, bool there) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(
                     (unsigned)__cvta_generic_to_shared(to)),
                 "l"(from), "r"(there ? 16 : 0)
                 : "memory");
}
// Ends what is asked for together.
__device__ void commit() {
    asm volatile("cp.async.commit_group;" ::: "memory");
}
// Waits until at most LATER of the groups that this thread has asked for are still on their way.
template <int LATER> __device__ void arrived() {
    asm volatile("cp.async.wait_group %0;" ::"n"(LATER) : "memory");
}

// scale is log2(e) / sqrt(DIM): 2^x takes one instruction, e^x two. parts.cuh tells what between
// and done hold.
extern "C" __global__ void __launch_bounds__(THREADS)
    decode(const Half *q, const Half *k, const Half *v, const int *lengths, Half *out,
           float *between, unsigned *done, int slots, int heads, int kvHeads, float scale) {
    extern __shared__ uint4 ring[][2][THREADS]; // [STAGES]: of keys, and of values
    const int lane = threadIdx.x % LANES, group = threadIdx.x / LANES;

    // 1. Which heads, which keys.
    const Mine m = mine(heads, kvHeads, lengths, slots);
    const int parts = gridDim.y, part = blockIdx.y, perPart = (m.length + parts - 1) / parts;
    const int begin = min(part * perPart, m.length);
    const int end = min(begin + perPart, m.length); // no key: begin
    k += m.cache + 8 * lane, v += m.cache + 8 * lane;

    // Asks for this thread's part of a turn's key and value.
    const auto fetch = [&](int turn) {
        const int slot = begin + turn * GROUPS + group;
        const size_t from = (size_t)min(slot, slots - 1) * m.pitch;
        copy(&ring[turn % STAGES][0][threadIdx.x], k + from, slot < end);
        copy(&ring[turn % STAGES][1][threadIdx.x], v + from, slot < end);
        commit();
    };
#pragma unroll
    for (int turn = 0; turn < STAGES - 1; turn++) fetch(turn);

    Eight query[HEADS] = {}, acc[HEADS] = {};
    float largest[HEADS], sum[HEADS];
    read(query, largest, sum, q, m, lane);
    // All groups go round equally often: shuffles need a whole warp.
    const int turns = (end - begin + GROUPS - 1) / GROUPS;
    for (int turn = 0; turn < turns; turn++) {
        // 2. A key and a value for each group; zeros behind the last.
        arrived<STAGES - 2>();
        const int slot = begin + turn * GROUPS + group;
        const Eight key = widened(ring[turn % STAGES][0][threadIdx.x]);
        const Eight value = widened(ring[turn % STAGES][1][threadIdx.x]);
        fetch(turn + STAGES - 1); // where the turn before this one was
                                  // 3. For each head a score, and a step of the online softmax.
        step(query, acc, largest, sum, key, value, slot < end, scale);
    }
    arrived<0>(); // what was asked for behind the last key

    // 4. The groups' results are merged, and then those of the blocks that share the keys.
    finish(acc, largest, sum, m, out, between, done, heads, kvHeads);
}
