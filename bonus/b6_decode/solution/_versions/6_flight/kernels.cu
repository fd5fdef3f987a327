// Decoding in halves, with loads in flight: each thread asks for its 16 bytes of the next keys and
// values STAGES - 1 turns ahead, by cp.async, into a ring in shared memory. It reads back only what
// it asked for itself, so it waits for no other thread. For the rest it is 5_split: a block has one
// key head of one sequence and up to 4 query heads, a group of DIM / 8 threads takes a key at a
// time, and several blocks may share the keys.

constexpr int WARPS = 8, THREADS = 32 * WARPS;
constexpr int HEADS = 4;  // query heads of a block, at most
constexpr int STAGES = 6; // of the ring
#include "heads.cuh"

// How many of the blocks that share keys are done: 0 before and after each launch.
constexpr int SHARED = 4096; // groups of such blocks, at most
__device__ unsigned done[SHARED];

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

// scale is log2(e) / sqrt(DIM): 2^x takes one instruction, e^x two. between has room for the
// results of all blocks that share keys: [batch * heads * parts] rows of DIM sums, and behind them
// as many weights.
extern "C" __global__ void __launch_bounds__(THREADS)
    decode(const Half *q, const Half *k, const Half *v, const int *lengths, Half *out,
           float *between, int slots, int heads, int kvHeads, float scale) {
    extern __shared__ uint4 ring[][2][THREADS]; // [STAGES]: of keys, and of values
    __shared__ float rows[GROUPS][DIM];
    __shared__ Weights found[GROUPS];
    const int lane = threadIdx.x % LANES, group = threadIdx.x / LANES;

    // 1. Which heads, which keys. The length is read here: a recorded launch sees today's.
    const Mine m = mine(heads, kvHeads);
    const int length = min(max(lengths[m.sequence], 0), slots);
    const int parts = gridDim.y, part = blockIdx.y, perPart = (length + parts - 1) / parts;
    const int begin = min(part * perPart, length);
    const int end = min(begin + perPart, length); // no key: begin
    const int pitch = kvHeads * DIM;
    const size_t cache = ((size_t)m.sequence * slots * kvHeads + m.kvHead) * DIM + 8 * lane;
    k += cache, v += cache;

    // Asks for this thread's part of a turn's key and value.
    const auto fetch = [&](int turn) {
        const int slot = begin + turn * GROUPS + group;
        const size_t from = (size_t)min(slot, slots - 1) * pitch;
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

    // 4. The groups' results, merged, head by head. With all keys here that is the end of it.
    const size_t all = (size_t)gridDim.x / (m.chunks * kvHeads) * heads * parts; // results
    Weights *weights = reinterpret_cast<Weights *>(between + all * DIM);
#pragma unroll
    for (int h = 0; h < HEADS; h++) {
        if (h >= m.count) break;
#pragma unroll
        for (int i = 0; i < 8; i++) rows[group][8 * lane + i] = acc[h].x[i];
        if (lane == 0) found[group] = {largest[h], sum[h]};
        __syncthreads(); // all results are in place
        if (threadIdx.x < DIM) {
            const Found one = merge(rows[0], found, GROUPS, threadIdx.x);
            const size_t at = (m.head0 + h) * parts + part;
            if (parts == 1) out[(m.head0 + h) * DIM + threadIdx.x] = finished(one);
            if (parts > 1) between[at * DIM + threadIdx.x] = one.number;
            if (parts > 1 && threadIdx.x == 0) weights[at] = one.weights;
        }
        __syncthreads(); // rows may be used again
    }
    if (parts == 1) return;

    // 5. The last of the blocks that share these keys merges what they found. It sees the others'
    //    results, for their fences came before their counting.
    __shared__ bool last;
    __threadfence();
    __syncthreads(); // the results of all threads are written, each before its fence
    // It counts to parts - 1, then starts from 0 again.
    if (threadIdx.x == 0) last = atomicInc(&done[blockIdx.x], parts - 1) == parts - 1;
    __syncthreads(); // everyone knows whether this block is the last
    if (!last) return;
    __threadfence();
    for (int i = threadIdx.x; i < m.count * DIM; i += THREADS) {
        const size_t head = m.head0 + i / DIM;
        out[head * DIM + i % DIM] =
            finished(merge(between + head * parts * DIM, weights + head * parts, parts, i % DIM));
    }
}
