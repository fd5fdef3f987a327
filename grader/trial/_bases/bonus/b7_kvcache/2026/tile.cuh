// A tile of the cache: GROUP tokens of a key head, in 8 or 4 bits. How it comes into shared memory,
// and how its codes become halves, in registers. DIM is 64 or 128, BITS 8 or 4.

#pragma once

#include <cuda_fp16.h>
#include <stdint.h>

constexpr int GROUP = 32;           // keys of a tile, which a warp takes at a time
constexpr int ROW = DIM * BITS / 8; // bytes of a token's codes
constexpr int CODES = GROUP * ROW;  // of a tile's
constexpr int TOKENS = GROUP * 2;   // bytes of a half for each token of a tile
constexpr int CHANNELS = DIM * 2;   // bytes of a half for each channel
// Codes of k and v, then 8 bits: scales of k and v; 4 bits: those and lows of v, and of k.
constexpr int SCALES = 2 * CODES, OF_K = SCALES + 2 * TOKENS;
constexpr int TILE = BITS == 8 ? OF_K : OF_K + 2 * CHANNELS; // bytes of a tile

// ---- loads ------------------------------------------------------------------------------------

// Pieces of 16 bytes change places within 128 bytes, by the row, so that the lanes' reads below
// meet in no bank. Every 8 rows it is the same again.
__device__ int place(int offset) {
    return offset ^ (offset / 128 % (8 * ROW / 128)) * (BITS == 8 ? 16 : 32);
}

// Where a lane's pieces of the cache begin: of the codes, of what there is a half of for each token
// (lanes 0 to 3: scales of v, 4 to 7: of k, or lows of v), and for each channel (the first DIM / 8
// lanes: scales of k, the next: lows of k).
struct Source {
    const unsigned char *k, *v;
    const __half *tokens, *channels;
};

// Asks for 16 bytes, of which there may be fewer: the rest becomes zeros, for it may be anything in
// the cache, NaN too.
__device__ void copy(unsigned char *to, const void *from, int there) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(
                     (uint32_t)__cvta_generic_to_shared(to)),
                 "l"(from), "r"(there)
                 : "memory");
}

// Asks for the tile that begins with a token, of which so many are there: all, if it is WHOLE.
template <bool WHOLE>
__device__ void fetch(unsigned char *tile, const Source &s, unsigned token, int there) {
    const int lane = threadIdx.x % 32;
    for (int i = 0; i < CODES / 512; i++) {
        const int size = WHOLE || (512 * i + 16 * lane) / ROW < there ? 16 : 0;
        const int to = (place(16 * lane) ^ place(512 * i)) % 512 + 512 * i;
        copy(tile + to, s.k + (size_t)token * ROW + 512 * i, size);
        copy(tile + CODES + to, s.v + (size_t)token * ROW + 512 * i, size);
    }
    if (lane < 2 * TOKENS / 16)
        copy(tile + SCALES + 16 * lane, s.tokens + token,
             WHOLE ? 16 : min(max(there - lane % 4 * 8, 0), 8) * 2);
    if (BITS == 4 && lane < 2 * CHANNELS / 16)
        copy(tile + OF_K + 16 * lane, s.channels + (size_t)(token / GROUP) * DIM, 16);
}

// WORDS of 4 bytes of a tile's codes, in as few loads as that takes.
template <int WORDS> __device__ void take(uint32_t (&w)[WORDS], const unsigned char *tile, int at) {
    if constexpr (WORDS >= 4) {
        for (int i = 0; i < WORDS / 4; i++) {
            const uint4 x = *reinterpret_cast<const uint4 *>(tile + (at ^ 16 * i));
            w[4 * i] = x.x, w[4 * i + 1] = x.y, w[4 * i + 2] = x.z, w[4 * i + 3] = x.w;
        }
    } else if constexpr (WORDS == 2) {
        const uint2 x = *reinterpret_cast<const uint2 *>(tile + at);
        w[0] = x.x, w[1] = x.y;
    } else {
        w[0] = *reinterpret_cast<const uint32_t *>(tile + at);
    }
}

// ---- codes become halves ----------------------------------------------------------------------

__device__ uint32_t bits(__half2 x) {
    return *reinterpret_cast<uint32_t *>(&x);
}
__device__ __half2 halves(uint32_t x) {
    return *reinterpret_cast<__half2 *>(&x);
}

#if BITS == 4
constexpr int WORDS = 1; // that hold 8 codes

// (w & mask) | 0x6400 in both halves of w, in one instruction. 0x6400 is 1024 in halves, whose last
// bit counts 1: a code below it is 1024 + code.
template <uint32_t MASK> __device__ __half2 above1024(uint32_t w) {
    uint32_t x;
    asm("lop3.b32 %0, %1, %2, %3, 0xea;" : "=r"(x) : "r"(w), "n"(MASK), "r"(0x64006400));
    return halves(x);
}
// Codes of w: the pairs (0, 4), (1, 5), (2, 6), (3, 7), all exact.
__device__ void unpack(__half2 *p, uint32_t w) {
    const __half2 base = __float2half2_rn(1024), sixteenth = __float2half2_rn(0.0625f);
    const __half2 less = __float2half2_rn(-64);
    for (int i = 0; i < 4; i += 2, w >>= 8) {
        p[i] = __hsub2(above1024<0x000f000f>(w), base);
        p[i + 1] = __hfma2(above1024<0x00f000f0>(w), sixteenth, less); // 1024 + 16 * code
    }
}
// Eight halves in that order.
__device__ void order(uint32_t *p, uint4 x) {
    p[0] = __byte_perm(x.x, x.z, 0x5410), p[1] = __byte_perm(x.x, x.z, 0x7632);
    p[2] = __byte_perm(x.y, x.w, 0x5410), p[3] = __byte_perm(x.y, x.w, 0x7632);
}
// Eight codes of a token as four pairs, in the order of order.
__device__ void pairs(__half2 (&p)[4], const uint32_t *w) {
    unpack(p, w[0]);
}
// Eight codes of two tokens: each pair is one channel's.
__device__ void both(__half2 (&p)[8], const uint32_t *a, const uint32_t *b) {
    unpack(p, __byte_perm(a[0], b[0], 0x5410));
    unpack(p + 4, __byte_perm(a[0], b[0], 0x7632));
}
#else
constexpr int WORDS = 2;

// Codes of w: the pairs (0, 1) and (2, 3). With its sign turned a code is a byte from 0 on.
__device__ void unpack(__half2 *p, uint32_t w) {
    const __half2 base = __float2half2_rn(1024 + 128);
    w ^= 0x80808080;
    p[0] = __hsub2(halves(__byte_perm(w, 0x64646464, 0x4140)), base);
    p[1] = __hsub2(halves(__byte_perm(w, 0x64646464, 0x4342)), base);
}
__device__ void order(uint32_t *p, uint4 x) {
    p[0] = x.x, p[1] = x.y, p[2] = x.z, p[3] = x.w;
}
__device__ void pairs(__half2 (&p)[4], const uint32_t *w) {
    unpack(p, w[0]);
    unpack(p + 2, w[1]);
}
__device__ void both(__half2 (&p)[8], const uint32_t *a, const uint32_t *b) {
    for (int i = 0; i < 2; i++) {
        unpack(p + 4 * i, __byte_perm(a[i], b[i], 0x5140));
        unpack(p + 4 * i + 2, __byte_perm(a[i], b[i], 0x7362));
    }
}
#endif
