// y = x W^T for up to 16 rows of x, with laid weights of four bits, for Hopper. kernels.cu
// describes the arrays and the order of laid weights.
//
// In kernels.cu a warp keeps its tile of outputs, and x passes through shared memory in stages,
// with a barrier for each. Here x stays and the weights pass. A warp keeps two groups of all rows
// of x in registers, as operands of tensor cores. So a block covers at most 4096 numbers along k;
// beyond that, several blocks share k. One thread asks for a whole tile's weights by bulk copies,
// up to SLOTS tiles ahead, and a barrier in shared memory (mbarrier) tells when they have arrived:
// no register is reserved for them meanwhile.
//
// A code masked out of its word is already a half: the subnormal code / 2^24, which tensor cores
// multiply exactly. A code four bits higher is 16 times as large. Its zero is not yet subtracted:
// the sum of (code - zero) * x is the sum of code * x less zero times the sum of x, and the sums of
// x are the same for all outputs. So one instruction unpacks two codes; kernels.cu needs two. The
// price: an infinity in x makes its row NaN, even where the output would be infinite.

#include <early.h>
#include <hopper.h>
#include <stdint.h>
#include <tensorcore.h>

constexpr int GROUP = 128, TALL = 16;       // numbers along k of a group, outputs of a tile
constexpr int WARPS = 16, HELD = 2;         // HELD: groups of x that a warp keeps in registers
constexpr int SPAN = WARPS * HELD;          // groups that a block has, at most
constexpr int CODES = TALL * GROUP / 2;     // bytes of a tile's weights for a group: codes,
constexpr int SCALES = TALL * 2;            // scales,
constexpr int ZEROS = TALL;                 // zeros,
constexpr int ALL = CODES + SCALES + ZEROS; // all three
constexpr int SUMS = 256;                   // sums of a tile: 16 outputs by 16 rows
constexpr int SLOTS = 2;                    // tiles of weights that fit into shared memory
constexpr int EARLY = 1;                    // how many of them are asked for before x is read

__device__ unsigned wordOf(const uint4 &four, int i) {
    return i == 0 ? four.x : i == 1 ? four.y : i == 2 ? four.z : four.w;
}

// --- The product

// Block (b, part) multiplies the b-th share of the tiles by the part-th share of k's groups, at
// most SPAN and at least one of them. It takes its tiles one after the other; its warps divide the
// groups among them. Only if gridDim.y > 1: between [gridDim.y][tiles][SUMS] holds the parts' sums,
// and done [gridDim.x] counts the blocks that have finished the same tiles, 0 before and after each
// launch. Launches that may overlap each need their own between and done.
extern "C" __global__ void __launch_bounds__(32 * WARPS, 1)
    stream16(const __half *x, const unsigned char *codes, const __half *scales,
             const unsigned char *zeros, __half *y, float *between, unsigned *done, int rows, int k,
             int n) {
    // [SLOTS][SPAN * ALL] bytes of weights, then shares: each warp's sums of a tile, for two tiles.
    extern __shared__ __align__(128) unsigned char memory[];
    float *shares = reinterpret_cast<float *>(memory + SLOTS * SPAN * ALL); // [2][WARPS][SUMS]
    __shared__ Mbarrier full[SLOTS];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4;
    // every: all groups along k. This block has groups of them, from start on; a warp has number
    // share and number WARPS + share of those. It has the tiles from first to before last.
    const int every = k / GROUP, tiles = (n + TALL - 1) / TALL, parts = gridDim.y;
    const int start = parts > 1 ? every * blockIdx.y / parts : 0;
    const int groups = (parts > 1 ? every * (blockIdx.y + 1) / parts : every) - start;
    // Where blocks share k, each block rotates the groups among its warps, so that not all blocks
    // read the same piece of x at once.
    const int share = parts > 1 ? (warp + blockIdx.x) % WARPS : warp;
    const int first = tiles * blockIdx.x / gridDim.x, last = tiles * (blockIdx.x + 1) / gridDim.x;

    // 1. Weights. A tile's groups are contiguous in memory, so three copies bring them.
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
        fence_proxy_async(); // the copy engine sees the barriers as initialised
        for (int i = 0; i < EARLY && first + i < last; i++) ask(first + i, i);
    }
    __syncthreads();       // all threads see the barriers as initialised
    waitForTheOneBefore(); // the kernel before may write x, and may still use y, between and done

    // 2. x, and its sums. Word v = 2q + s of a lane's eight weight words for a group has four
    //    numbers along k, from 32q + 8t + 4s on. Those of x, for row 8j + g, are words 2s and
    //    2s + 1 of held[p][q][j]. total[p][j][c] is the sum of group p in row 8j + 2t + c.
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
        // 16 x 16 halves of 1: the product adds up x, and its sums are where step 3 needs them.
        const unsigned ones[4] = {0x3c003c00, 0x3c003c00, 0x3c003c00, 0x3c003c00};
        float sum[4] = {};
#pragma unroll
        for (int v = 0; v < 8; v++) {
            const uint4 &four = held[i / 2][v / 2][i % 2];
            mma_f16(sum, ones, wordOf(four, v % 2 * 2), wordOf(four, v % 2 * 2 + 1));
        }
        total[i / 2][i % 2][0] = sum[0], total[i / 2][i % 2][1] = sum[1];
    }
    // The other slots' weights only now: earlier they would delay x, which all warps wait for.
    for (int i = EARLY; threadIdx.x == 0 && i < SLOTS && first + i < last; i++) ask(first + i, i);
    __syncwarp();

    // Rounds and stores a tile's sum i. It was number 4 * (i / 128) + i % 4 of the eight sums of
    // lane i / 4 % 32 (step 3), which gives its row and its output.
    const auto put = [&](int tile, int i, float sum) {
        const int owner = i / 4 % 32, c = i % 4; // owner: that lane
        const int row = i / 128 * 8 + owner % 4 * 2 + c % 2;
        const int output = tile * TALL + owner / 4 + c / 2 * 8;
        if (row < rows && output < n) y[(size_t)row * n + output] = __float2half_rn(sum);
    };
    // slot cycles through the slots, and phase is the parity of its barrier's phase. turn, 0 or 1,
    // is the buffer of shares in use.
    int slot = 0, phase = 0, turn = 0;
    for (int tile = first; tile < last; tile++) {
        full[slot].wait(phase);

        // 3. The warp's share of the sums. If it has no such group, it reads the last one, with
        //    scales of 0.
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
        for (int i = 0; i < 8 * HELD; i++) { // alternates groups, whose sums are independent
            const int v = i / HELD, p = i % HELD;
            const unsigned word = wordOf(pieces[p][v / 4], v % 4), next = word >> 8;
            const unsigned w[4] = {word & 0x000f000f, word & 0x00f000f0, next & 0x000f000f,
                                   next & 0x00f000f0};
#pragma unroll
            for (int j = 0; j < 2; j++)
                mma_f16(part[p][j], w, wordOf(held[p][v / 2][j], v % 2 * 2),
                        wordOf(held[p][v / 2][j], v % 2 * 2 + 1));
        }
        // sums[4j + c] is of row 8j + 2t + c % 2, and of output g (c < 2) or g + 8. Codes of g
        // count 2^-24 each, those of g + 8 2^-20.
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
        // All shares are written, and the slot is free: the shares were computed from what the
        // threads loaded from it, so these loads are done.
        __syncthreads();
        if (threadIdx.x == 0 && tile + SLOTS < last) ask(tile + SLOTS, slot);

        // 4. Half of the warps add up the shares: the lower half for buffer 0, the upper for 1. The
        //    other half does not wait for them. A buffer is written again two tiles later, and the
        //    barrier of the tile between comes after these reads.
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

    // 5. The last of the blocks with the same tiles adds up the parts, in their order. After the
    //    barrier one thread's fence covers what all threads of the block wrote. atomicInc takes the
    //    count back to 0.
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
        for (int p = 0; p < parts; p++) { // __ldcg reads the L2: the other blocks' sums are there
            const float4 one = __ldcg(
                reinterpret_cast<const float4 *>(between + ((size_t)p * tiles + first) * SUMS + i));
            all[0] += one.x, all[1] += one.y, all[2] += one.z, all[3] += one.w;
        }
        for (int c = 0; c < 4; c++) put(first + i / SUMS, i % SUMS + c, all[c]);
    }
}
