// Products of up to 16 rows by laid weights of four bits, as Hopper wants them.
// kernels.cu tells what the arrays are, and how weights are laid.
//
// There weights stay, a tile of outputs to a warp, and x comes by: in stages, with a barrier for
// each. Here x stays. A warp holds two groups of all rows, as operands of tensor cores, so a block
// has 4096 numbers of k at most, and others the rest. Weights come by: one thread asks for those of
// a whole tile by bulk copies, some turns early, and a barrier in shared memory (mbarrier) tells
// when they have arrived. No register waits for them.
//
// A code masked out of its word is a half already: code / 2^24, a subnormal, which tensor cores
// multiply exactly; four bits higher it counts 16 times as much. Its zero is missing. But the sum
// of (code - zero) * x is the sum of code * x, less zero times the sum of x; and sums of x are the
// same for all outputs. So one instruction unpacks two codes, where kernels.cu needs two.

#include <early.h>
#include <hopper.h>
#include <stdint.h>
#include <tensorcore.h>

constexpr int GROUP = 128, TALL = 16;       // numbers of a group along k, outputs of a tile
constexpr int WARPS = 16, HELD = 2;         // groups of x that a warp holds
constexpr int SPAN = WARPS * HELD;          // groups of a block, at most
constexpr int CODES = TALL * GROUP / 2;     // bytes of a tile and group: of codes,
constexpr int SCALES = TALL * 2;            // scales,
constexpr int ZEROS = TALL;                 // zeros,
constexpr int ALL = CODES + SCALES + ZEROS; // and all
constexpr int SUMS = 256;                   // of a tile: 16 outputs by 16 rows
constexpr int SLOTS = 2;                    // tiles of weights that there is room for
constexpr int EARLY = 1;                    // of them asked for before x

__device__ unsigned wordOf(const uint4 &four, int i) {
    return i == 0 ? four.x : i == 1 ? four.y : i == 2 ? four.z : four.w;
}

// --- The product

// Blocks (., part) have a part of k. Each goes over some tiles, one a turn, and its warps share out
// the groups. between has room for the sums of all parts, and done [gridDim.x] counts which blocks
// with the same tiles are done: 0 before and after each launch. Launches that may overlap need a
// between and a done each.
extern "C" __global__ void __launch_bounds__(32 * WARPS, 1)
    stream16(const __half *x, const unsigned char *codes, const __half *scales,
             const unsigned char *zeros, __half *y, float *between, unsigned *done, int rows, int k,
             int n) {
    extern __shared__ __align__(128) unsigned char memory[]; // [SLOTS][SPAN * ALL], and shares
    float *shares = reinterpret_cast<float *>(memory + SLOTS * SPAN * ALL); // [2][WARPS][SUMS]
    __shared__ Mbarrier full[SLOTS];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4;
    const int every = k / GROUP, tiles = (n + TALL - 1) / TALL, parts = gridDim.y;
    const int start = parts > 1 ? every * blockIdx.y / parts : 0; // of this block's groups
    const int groups = (parts > 1 ? every * (blockIdx.y + 1) / parts : every) - start;
    // Blocks that share k begin with different groups, so not all want the same of x at once.
    const int share = parts > 1 ? (warp + blockIdx.x) % WARPS : warp;
    const int first = tiles * blockIdx.x / gridDim.x, last = tiles * (blockIdx.x + 1) / gridDim.x;

    // 1. Weights. Those of a tile lie in a row, group by group.
    const auto ask = [&](int tile, int slot) {
        unsigned char *to = memory + slot * SPAN * ALL;
        const size_t from = (size_t)tile * every + start;
        full[slot].arrive_expect_tx(groups * ALL);
        bulk_load(to, codes + from * CODES, groups * CODES, full[slot]);
        bulk_load(to + SPAN * CODES, scales + from * TALL, groups * SCALES, full[slot]);
        bulk_load(to + SPAN * (CODES + SCALES), zeros + from * ZEROS, groups * ZEROS, full[slot]);
    };
    letTheNextBegin();
    if (threadIdx.x == 0) {
        for (int i = 0; i < SLOTS; i++) full[i].init(1);
        fence_proxy_async(); // for the copies that follow
        for (int i = 0; i < EARLY && first + i < last; i++) ask(first + i, i);
    }
    __syncthreads();       // the barriers are there
    waitForTheOneBefore(); // x may be what it writes

    // 2. x, and its sums. Word 2q + s of a lane's eight for a group are four numbers from
    //    32q + 8t + 4s on, of row 8j + g; sum c is of row 8j + 2t + c.
    uint4 held[HELD][4][2];
    float total[HELD][2][2];
#pragma unroll
    for (int i = 0; i < HELD * 8; i++) {
        const int p = i / 8, q = i / 2 % 4, j = i % 2;
        const int row = 8 * j + g, group = p * WARPS + share;
        held[p][q][j] = row < rows && group < groups
                            ? *reinterpret_cast<const uint4 *>(
                                  x + row * k + (start + group) * GROUP + 32 * q + 8 * t)
                            : uint4{0, 0, 0, 0};
    }
#pragma unroll
    for (int i = 0; i < HELD * 2; i++) {
        const unsigned ones[4] = {0x3c003c00, 0x3c003c00, 0x3c003c00, 0x3c003c00}; // halves
        float sum[4] = {};
#pragma unroll
        for (int v = 0; v < 8; v++) {
            const uint4 &four = held[i / 2][v / 2][i % 2];
            mma_f16(sum, ones, wordOf(four, v % 2 * 2), wordOf(four, v % 2 * 2 + 1));
        }
        total[i / 2][i % 2][0] = sum[0], total[i / 2][i % 2][1] = sum[1];
    }
    // More weights only now: they would be in x's way.
    for (int i = EARLY; threadIdx.x == 0 && i < SLOTS && first + i < last; i++) ask(first + i, i);
    __syncwarp();

    // Sum i of a tile is one of a lane's eight: which of them tells the row, and of which output.
    const auto put = [&](int tile, int i, float sum) {
        const int owner = i / 4 % 32, c = i % 4; // the lane that had it
        const int row = i / 128 * 8 + owner % 4 * 2 + c % 2;
        const int output = tile * TALL + owner / 4 + c / 2 * 8;
        if (row < rows && output < n) y[(size_t)row * n + output] = __float2half_rn(sum);
    };
    int slot = 0, phase = 0, turn = 0; // turn: even or odd
    for (int tile = first; tile < last; tile++) {
        full[slot].wait(phase);

        // 3. A warp's share. Behind the last group is that one again, with scales of 0.
        const unsigned char *mine = memory + slot * SPAN * ALL;
        uint4 pieces[HELD][2];
        float2 scale[HELD];
        unsigned zero[HELD];
#pragma unroll
        for (int p = 0; p < HELD; p++) {
            const int group = p * WARPS + share, there = min(group, groups - 1);
            const uint4 *from = reinterpret_cast<const uint4 *>(mine + there * CODES) + lane;
            pieces[p][0] = from[0], pieces[p][1] = from[32];
            const __half2 two =
                reinterpret_cast<const __half2 *>(mine + SPAN * CODES + there * SCALES)[g];
            zero[p] = reinterpret_cast<const uint16_t *>(mine + SPAN * (CODES + SCALES) +
                                                         there * ZEROS)[g];
            scale[p] = group < groups ? __half22float2(two) : make_float2(0, 0);
        }
        float part[HELD][2][4] = {};
#pragma unroll
        for (int i = 0; i < 8 * HELD; i++) { // products of one group need not wait for the other's
            const int v = i / HELD, p = i % HELD;
            const unsigned word = wordOf(pieces[p][v / 4], v % 4), next = word >> 8;
            const unsigned w[4] = {word & 0x000f000f, word & 0x00f000f0, next & 0x000f000f,
                                   next & 0x00f000f0};
#pragma unroll
            for (int j = 0; j < 2; j++)
                mma_f16(part[p][j], w, wordOf(held[p][v / 2][j], v % 2 * 2),
                        wordOf(held[p][v / 2][j], v % 2 * 2 + 1));
        }
        // Number 4j + c is of row 8j + 2t + c % 2, and of output g, or, with c from 2 on, g + 8.
        float sums[8] = {};
#pragma unroll
        for (int p = 0; p < HELD; p++) {
            const float s = scale[p].x, s8 = scale[p].y;
            const float of = s * 0x1p24f, of8 = s8 * 0x1p20f;
            const float less = -s * (zero[p] & 15), less8 = -s8 * (zero[p] >> 8 & 15);
#pragma unroll
            for (int i = 0; i < 8; i++) {
                const int j = i / 4, c = i % 4;
                sums[i] = fmaf(c < 2 ? less : less8, total[p][j][c % 2], sums[i]);
                sums[i] = fmaf(c < 2 ? of : of8, part[p][j][c], sums[i]);
            }
        }
        float4 *to = reinterpret_cast<float4 *>(shares + (turn * WARPS + warp) * SUMS) + lane;
        to[0] = make_float4(sums[0], sums[1], sums[2], sums[3]);
        to[32] = make_float4(sums[4], sums[5], sums[6], sums[7]);
        __syncthreads(); // every share is there, and nobody reads this slot any more
        if (threadIdx.x == 0 && tile + SLOTS < last) ask(tile + SLOTS, slot);

        // 4. Half of the warps add, by turns. Nobody waits for them: there are two buffers, and who
        //    writes the first again has met those who read it at the second's barrier.
        if (threadIdx.x / SUMS == turn) {
            const int i = threadIdx.x % SUMS;
            float sum = 0;
#pragma unroll
            for (int w = 0; w < WARPS; w++) sum += shares[(turn * WARPS + w) * SUMS + i];
            if (parts == 1)
                put(tile, i, sum);
            else
                between[((size_t)blockIdx.y * tiles + tile) * SUMS + i] = sum;
        }
        turn ^= 1;
        if (++slot == SLOTS) slot = 0, phase ^= 1;
    }
    if (parts == 1) return;

    // 5. The last of the blocks with the same tiles adds. The barrier comes before the one fence,
    //    which so is behind what all threads wrote; the count ends at 0 again.
    __shared__ bool isLast;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        isLast = atomicInc(&done[blockIdx.x], parts - 1) == parts - 1;
        __threadfence();
    }
    __syncthreads(); // everyone knows whether this block is the last
    if (!isLast) return;
    for (int i = threadIdx.x * 4; i < (last - first) * SUMS; i += blockDim.x * 4) {
        float all[4] = {};
#pragma unroll 4
        for (int p = 0; p < parts; p++) { // from the L2, where the others' sums are
            const float4 one = __ldcg(
                reinterpret_cast<const float4 *>(between + ((size_t)p * tiles + first) * SUMS + i));
            all[0] += one.x, all[1] += one.y, all[2] += one.z, all[3] += one.w;
        }
        for (int c = 0; c < 4; c++) put(first + i / SUMS, i % SUMS + c, all[c]);
    }
}
