// mail.cuh: what blocks send each other, and how they wait for it.
#pragma once

#include <stdint.h>

// A word of 8 bytes, which is written and read as a whole, has a number, or two halves, and a tag
// that says of which launch and phase it is. Whoever finds the tag has the number: no fence, no
// count, and not a second way to the L2 cache. A word is written again only by who has received
// what all blocks sent behind its last reading.
//
// The host defines STRICT for the simulator, which knows a flag by the fences around it.
#ifdef STRICT
#define STORE "st.release.gpu.global.u64"
#define LOAD "ld.acquire.gpu.global.u64"
#define LOAD_TWO "ld.acquire.gpu.global.v2.u64"
#else
#define STORE "st.relaxed.gpu.global.u64"
#define LOAD "ld.relaxed.gpu.global.u64"
#define LOAD_TWO "ld.relaxed.gpu.global.v2.u64"
#endif
__device__ void postBits(uint64_t *to, uint32_t bits, uint32_t tag) {
    const uint64_t word = (uint64_t)tag << 32 | bits;
    asm volatile(STORE " [%0], %1;" : : "l"(to), "l"(word) : "memory");
}
__device__ void post(uint64_t *to, float value, uint32_t tag) {
    postBits(to, __float_as_uint(value), tag);
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
        return make_float2(__uint_as_float(bits(0)), __uint_as_float(bits(1)));
    }
    __device__ uint32_t bits(int i) const { return (uint32_t)words[i]; }
};
