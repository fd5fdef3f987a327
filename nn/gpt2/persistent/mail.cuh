// mail.cuh: what blocks send each other, and how they wait for it.
#pragma once

#include "stream.cuh"

// --- Numbers with tags

// A word of 8 bytes, which is written and read as a whole, has a number and a tag that says of
// which launch and phase it is. Whoever finds the tag has the number: no fence, no count, and not a
// second way to the L2 cache. A word is written again only by who has received what all blocks sent
// behind its last reading.
//
// persistent.go defines STRICT for the simulator, which knows a flag by the fences around it.
#ifdef STRICT
#define STORE "st.release.gpu.global.u64"
#define LOAD "ld.acquire.gpu.global.u64"
#define LOAD_TWO "ld.acquire.gpu.global.v2.u64"
#else
#define STORE "st.relaxed.gpu.global.u64"
#define LOAD "ld.relaxed.gpu.global.u64"
#define LOAD_TWO "ld.relaxed.gpu.global.v2.u64"
#endif
__device__ void post(uint64_t *to, float value, uint32_t tag) {
    const uint64_t word = (uint64_t)tag << 32 | __float_as_uint(value);
    asm volatile(STORE " [%0], %1;" : : "l"(to), "l"(word) : "memory");
}
__device__ float receive(const uint64_t *from, uint32_t tag) {
    uint64_t word;
    do asm volatile(LOAD " %0, [%1];" : "=l"(word) : "l"(from) : "memory");
    while (word >> 32 != tag);
    return __uint_as_float((uint32_t)word);
}

// Two numbers that follow each other, an even one first. Each word has a tag of its own, so nothing
// depends on their coming together.
struct Two {
    uint64_t words[2]; // no tag is 0

    __device__ bool has(uint32_t tag) const {
        return words[0] >> 32 == tag && words[1] >> 32 == tag;
    }
    __device__ void ask(const uint64_t *from) {
        asm volatile(LOAD_TWO " {%0, %1}, [%2];"
                     : "=l"(words[0]), "=l"(words[1])
                     : "l"(from)
                     : "memory");
    }
    __device__ float2 numbers() const {
        return make_float2(__uint_as_float((uint32_t)words[0]),
                           __uint_as_float((uint32_t)words[1]));
    }
};

// A vector [N] whose numbers the block's threads share out: thread t has 2t, 2t + 1, and further
// ones after all threads had two.
template <int N> struct Spread {
    static constexpr int EACH = (N / 2 + THREADS - 1) / THREADS;
    float2 at[EACH];

    static __device__ int pair(int i) { return threadIdx.x + i * THREADS; }
    static __device__ bool has(int i) { return N / 2 % THREADS == 0 || pair(i) < N / 2; }

    // All that are missing are asked for at once, until none is: the last one to come is there a
    // single way to the L2 cache and back after it was posted.
    __device__ void receive(const uint64_t *from, uint32_t tag) {
        Two two[EACH] = {};
        for (bool all = false; !all;) {
            all = true;
#pragma unroll
            for (int i = 0; i < EACH; i++)
                if (has(i) && !two[i].has(tag)) two[i].ask(from + 2 * pair(i));
#pragma unroll
            for (int i = 0; i < EACH; i++) all = all && (!has(i) || two[i].has(tag));
        }
#pragma unroll
        for (int i = 0; i < EACH; i++) at[i] = two[i].numbers();
    }
    __device__ void load(const float *from) { loadPairs((const float2 *)from); }
    // Pairs of floats, or of halves.
    template <class Type> __device__ void loadPairs(const Type *from) {
#pragma unroll
        for (int i = 0; i < EACH; i++) at[i] = has(i) ? numbers(from[pair(i)]) : make_float2(0, 0);
    }
    // For all of the block, behind its next barrier.
    __device__ void store(float *to) const {
#pragma unroll
        for (int i = 0; i < EACH; i++)
            if (has(i)) ((float2 *)to)[pair(i)] = at[i];
    }
};
