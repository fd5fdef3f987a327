// Products of up to 64 rows by laid weights of four bits, as Hopper wants them. kernels.cu tells
// what the arrays are, how weights are laid, and how codes become halves.
//
// wgmma multiplies 64 outputs by all rows of x at once. Weights are its first operand, and come
// from the registers in which they were decoded. x is its second, which the tensor cores read from
// shared memory by themselves: in kernels.cu each warp loads all of it into registers, for 16
// outputs.
//
// Two warpgroups have 64 outputs each and multiply. A third brings x, and changes the order of its
// numbers on the way: those of a fragment of weights are not in a row. Barriers in shared memory
// (mbarrier) tell each side when the other is done with a stage, which is a group of x.

#include <early.h>
#include <hopper.h>
#include <stdint.h>

constexpr int GROUP = 128, TALL = 16; // numbers of a group along k, outputs of a tile
constexpr int ROWS = 64, STAGES = 4;
constexpr int WARPS = 8, THREADS = 32 * WARPS + 128; // that multiply, and a warpgroup more
constexpr int BOX = ROWS * 128, STAGE = 2 * BOX;     // bytes: 64 numbers of each row, a group

__device__ __half2 halvesOf(unsigned bits) {
    return *reinterpret_cast<__half2 *>(&bits);
}
__device__ unsigned bitsOf(__half2 x) {
    return *reinterpret_cast<unsigned *>(&x);
}
// As in kernels.cu: two codes less their zero.
struct Zero {
    unsigned ofLow, ofHigh;
    __device__ Zero(unsigned zero) {
        const unsigned twice = (zero & 15) * 0x10001;
        ofLow = twice | 0x64006400, ofHigh = twice << 4 | 0xd400d400;
    }
};
// Bits of a word beside those of the half 1024, of which the last counts 1. In C++ these are two
// instructions, as one of them takes one constant.
template <unsigned MASK> __device__ __half2 above1024(unsigned word) {
    unsigned x;
    asm("lop3.b32 %0, %1, %2, %3, 0xea;" : "=r"(x) : "r"(word), "n"(MASK), "r"(0x64006400));
    return halvesOf(x);
}
__device__ unsigned low(unsigned word, Zero zero) {
    return bitsOf(__hsub2(above1024<0x000f000f>(word), halvesOf(zero.ofLow)));
}
__device__ unsigned high(unsigned word, Zero zero) {
    return bitsOf(
        __hfma2(above1024<0x00f000f0>(word), __float2half2_rn(0.0625f), halvesOf(zero.ofHigh)));
}
__device__ unsigned wordOf(const uint4 &four, int i) {
    return i == 0 ? four.x : i == 1 ? four.y : i == 2 ? four.z : four.w;
}

// Waits for all warps that multiply.
__device__ void meet() {
    named_barrier_sync(1, 32 * WARPS);
}

// --- x

// Each block takes its groups in an order of its own, round from another first one. Where x is not
// in the L2 yet, blocks in step would all wait for the same group of it, and for each group anew:
// so they bring it together, and each waits about once.
struct Groups {
    int first, last, now;
    __device__ Groups(int first, int last)
        : first(first), last(last), now(first + blockIdx.x % (last - first)) {}
    __device__ int next() const { return now + 1 == last ? first : now + 1; }
};

// Brings the groups of x. Rows behind the last are zeros. A warp has 32 numbers of
// each row: lane 4g + t eight from 8t on, of rows g, g + 8 and so on. Its word j is a fragment's
// columns 2t and 2t + 1 of eight, so it becomes the t-th of piece j, of 16 bytes. Of row g in a box
// the tensor cores expect piece p where p ^ g % 8 would be.
__device__ void bring(const __half *x, unsigned char *stages, Mbarrier *full, Mbarrier *empty,
                      int rows, int k, Groups groups) {
    const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4, q = threadIdx.x / 32 % 4;
    uint4 held[ROWS / 8]; // of the next group, on their way
    const auto ask = [&](int group) {
#pragma unroll
        for (int i = 0; i < ROWS / 8; i++) {
            const int row = 8 * i + g;
            held[i] = row < rows ? *reinterpret_cast<const uint4 *>(x + (size_t)row * k +
                                                                    group * GROUP + 32 * q + 8 * t)
                                 : uint4{0, 0, 0, 0};
        }
    };
    ask(groups.now);
    int stage = 0, phase = 1;
    for (int left = groups.last - groups.first; left > 0; left--) {
        empty[stage].wait(phase);
        unsigned char *to = stages + stage * STAGE + q / 2 * BOX + g * 128 + 4 * t;
#pragma unroll
        for (int i = 0; i < ROWS / 8; i++)
#pragma unroll
            for (int j = 0; j < 4; j++) {
                const int piece = (q % 2 * 4 + j) ^ g;
                *reinterpret_cast<unsigned *>(to + i * 1024 + piece * 16) = wordOf(held[i], j);
            }
        fence_proxy_async(); // wgmma sees what was stored
        full[stage].arrive();
        groups.now = groups.next();
        if (left > 1) ask(groups.now);
        if (++stage == STAGES) stage = 0, phase ^= 1;
    }
}

// Blocks (., part) share k. between has room for what all of them find, and done [gridDim.x] counts
// which blocks with the same outputs are done: 0 before and after each launch. Launches that may
// overlap need a between and a done each.
extern "C" __global__ void __launch_bounds__(THREADS, 1)
    rows_hopper(const __half *x, const uint4 *codes, const __half2 *scales, const uchar2 *zeros,
                __half *y, float *between, unsigned *done, int rows, int k, int n) {
    extern __shared__ unsigned char memory[]; // stages begin at multiples of 1024
    unsigned char *stages = (unsigned char *)(((uintptr_t)memory + 1023) / 1024 * 1024);
    __shared__ Mbarrier full[STAGES], empty[STAGES];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4;
    const int groups = k / GROUP, tiles = (n + TALL - 1) / TALL, parts = gridDim.y;
    Groups mine(groups * blockIdx.y / parts, groups * (blockIdx.y + 1) / parts);
    if (threadIdx.x == 0)
        for (int i = 0; i < STAGES; i++) full[i].init(128), empty[i].init(WARPS);
    letTheNextBegin();
    __syncthreads();
    if (warp >= WARPS) { // gives up registers, which the others take
        setmaxnreg_dec<120>();
        waitForTheOneBefore(); // x may be what it writes
        bring(x, stages, full, empty, rows, k, mine);
        return;
    }
    setmaxnreg_inc<192>();

    // A weight is of use to one warp only: it goes straight to a register, a group early.
    const int tile = blockIdx.x * WARPS + warp;
    const unsigned start = min(tile, tiles - 1) * groups;
    uint4 pieces[2];
    __half2 scaleOf;
    uint16_t zeroOf; // two bytes: to tell them apart waits for the load
    const auto ask = [&](int group) {
        const unsigned from = start + group;
        pieces[0] = __ldcs(codes + from * 64 + lane);
        pieces[1] = __ldcs(codes + from * 64 + 32 + lane);
        scaleOf = scales[from * 8 + g];
        zeroOf = reinterpret_cast<const uint16_t *>(zeros)[from * 8 + g];
    };
    ask(mine.now);
    // Sum 4j + 2h + c is that of output g + 8h and row 8j + 2t + c.
    float sums[ROWS / 2] = {};
    int stage = 0, phase = 0;
    for (int left = mine.last - mine.first; left > 0; left--) {
        unsigned w[8][4];
        const Zero zero(zeroOf), zero8(zeroOf >> 8);
        const float2 scale = __half22float2(scaleOf);
#pragma unroll
        for (int v = 0; v < 8; v++) {
            const unsigned word = wordOf(pieces[v / 4], v % 4);
            w[v][0] = low(word, zero), w[v][1] = high(word, zero8);
            w[v][2] = low(word >> 8, zero), w[v][3] = high(word >> 8, zero8);
        }
        mine.now = mine.next();
        ask(mine.now);        // behind the last the first again, which nobody uses
        float part[ROWS / 2]; // the group's sums
        const uint64_t b = matrix_descriptor(stages + stage * STAGE);
        full[stage].wait(phase);
        wgmma_fence();
#pragma unroll
        for (int v = 0; v < 8; v++) // 16 numbers are 32 bytes
            wgmma<ROWS, __half>(part, w[v], b + (v / 4 * BOX + v % 4 * 32) / 16, v > 0);
        wgmma_commit();
        wgmma_wait<0>(part);
        if (lane == 0) empty[stage].arrive();
#pragma unroll
        for (int i = 0; i < ROWS / 2; i++)
            sums[i] = fmaf(i / 2 % 2 == 0 ? scale.x : scale.y, part[i], sums[i]);
        if (++stage == STAGES) stage = 0, phase ^= 1;
    }

    const auto put = [&](int i, float v) {
        const int output = tile * TALL + g + i / 2 % 2 * 8, row = i / 4 * 8 + 2 * t + i % 2;
        if (row < rows && output < n) y[(size_t)row * n + output] = __float2half_rn(v);
    };
#pragma unroll
    for (int i = 0; parts == 1 && i < ROWS / 2; i++) put(i, sums[i]);
    if (parts == 1) return;

    // The last of the blocks that share k adds. The barrier comes before the one fence, which so is
    // behind what all threads wrote; the count ends at 0 again. A part's loads are all under way
    // before the first of them is waited for. Parts are added in their order, so whoever is last
    // gets the same bits; its own never left their registers.
    constexpr int FOURS = ROWS / 8;
    const int share = gridDim.x * WARPS * FOURS * 32; // what all blocks find in one part of k
    float4 *found = reinterpret_cast<float4 *>(between) + (size_t)tile * FOURS * 32 + lane;
    float4 own[FOURS];
#pragma unroll
    for (int i = 0; i < FOURS; i++) {
        own[i] = make_float4(sums[4 * i], sums[4 * i + 1], sums[4 * i + 2], sums[4 * i + 3]);
        found[blockIdx.y * share + i * 32] = own[i];
    }
    __shared__ bool isLast;
    meet();
    if (threadIdx.x == 0) {
        __threadfence();
        isLast = atomicInc(&done[blockIdx.x], parts - 1) == parts - 1;
        __threadfence();
    }
    meet(); // everyone knows whether this block is the last
    if (!isLast) return;
#pragma unroll
    for (int i = 0; i < ROWS / 2; i++) sums[i] = 0;
    for (int p = 0; p < parts; p++) {
        float4 one[FOURS];
#pragma unroll
        for (int i = 0; i < FOURS; i++)
            one[i] = p == blockIdx.y ? own[i] : __ldcg(&found[p * share + i * 32]);
#pragma unroll
        for (int i = 0; i < FOURS; i++) {
            sums[4 * i] += one[i].x, sums[4 * i + 1] += one[i].y;
            sums[4 * i + 2] += one[i].z, sums[4 * i + 3] += one[i].w;
        }
    }
#pragma unroll
    for (int i = 0; i < ROWS / 2; i++) put(i, sums[i]);
}
