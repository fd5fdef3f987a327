// Attention on Hopper: out = softmax(q * k^T / sqrt(DIM)) * v, as exact as in float32.
//
//   q, out [heads, seqQ, DIM]     k, v [heads / groupSize, seqK, DIM]
//
// Tensor cores multiply halves, of 11 bits, so each number is two of them, x = (high + low) / 2^n,
// and a product takes three (task 4's solution tells how that is exact). A kernel of its own cuts
// the numbers: each is cut once, and the copy engine (TMA) can bring tiles of halves, as hopper.cu
// has it bring those of a product. The tensor cores (wgmma) read them from where they arrive.
//
// A block has 128 queries of a head and walks over the keys, 128 at a time. Halves of 128 queries,
// keys and values take 64 KB each: so there is room for one tile of keys and one of values. A
// warpgroup asks for them; two multiply, each with 64 queries. While one of these does its softmax,
// the other's products run.

#include <hopper.h>
#include <stdint.h>

// defines.go defines DIM, the numbers of a head, and BLOCK, the threads of a block that cuts.

#define WARPGROUP 128
#define MULTIPLIERS 2               // warpgroups
#define KEYS 128                    // of a tile, and its queries: 64 for each that multiplies
#define BOX (KEYS * 64 * 2)         // bytes of 64 columns of a tile; their rows have 128 bytes
#define TILE (2 * (DIM / 64) * BOX) // high halves, then low ones
#define EVERYONE 0xffffffffu

// --- Numbers as two halves

// Two to the n-th, or 2^-126 if that is more: nothing here needs a smaller one.
__device__ float powerOfTwo(int n) {
    return __int_as_float(max(n + 127, 1) << 23);
}

// The n of the scale 2^n for numbers of which the largest is most; of zeros, the largest possible.
__device__ int scaleFor(float most) {
    return min(14 + 127 - (int)(__float_as_uint(most) >> 23), 126);
}

// Cuts two numbers in two halves each. The high halves, rounded to the nearest, share a register.
// The low ones are what is left when those are subtracted: that difference is exact.
__device__ void cut(float x, float y, unsigned &high, unsigned &low) {
    const __half2 h = __floats2half2_rn(x, y);
    const float2 rounded = __half22float2(h);
    const __half2 l = __floats2half2_rn(x - rounded.x, y - rounded.y);
    high = *(unsigned *)&h, low = *(unsigned *)&l;
}

// Cuts x [heads, rows, DIM] into halves [heads, 2, rows, DIM]. Eight rows (a group) share a scale,
// 2^scales[head, group]. A warp has a group and keeps it in registers; y is the head.
extern "C" __global__ void __launch_bounds__(BLOCK)
    cut_rows(const float *x, __half *halves, int *scales, int rows) {
    constexpr int EACH = 8 * DIM / 4 / 32; // fours of numbers for each lane
    const int lane = threadIdx.x % 32, groups = (rows + 7) / 8;
    const int group = blockIdx.x * (BLOCK / 32) + threadIdx.x / 32;
    if (group >= groups) return; // the whole warp
    x += (size_t)blockIdx.y * rows * DIM, halves += (size_t)blockIdx.y * 2 * rows * DIM;
    const int left = min(8, rows - group * 8) * DIM / 4; // fours of the group
    const size_t first = (size_t)group * 8 * DIM / 4;
    float4 v[EACH];
    float most = 0.0f; // fmaxf passes over NaN, which stays NaN all the same
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        v[i] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        if (i * 32 + lane < left) v[i] = ((const float4 *)x)[first + i * 32 + lane];
        most = fmaxf(
            most, fmaxf(fmaxf(fabsf(v[i].x), fabsf(v[i].y)), fmaxf(fabsf(v[i].z), fabsf(v[i].w))));
    }
    most = __uint_as_float(__reduce_max_sync(EVERYONE, __float_as_uint(most))); // same order
    const int n = scaleFor(most);
    if (lane == 0) scales[blockIdx.y * groups + group] = n;
    const float scale = most < INFINITY ? powerOfTwo(n) : NAN; // all 8 rows, rather than wrong
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        if (i * 32 + lane >= left) continue;
        uint2 high, low;
        cut(v[i].x * scale, v[i].y * scale, high.x, low.x);
        cut(v[i].z * scale, v[i].w * scale, high.y, low.y);
        uint2 *to = (uint2 *)halves + first + i * 32 + lane;
        to[0] = high, to[(size_t)rows * DIM / 4] = low;
    }
}

// --- Copies

// Asks for the high and the low halves of a head's rows, from a row on; zeros stand for rows beyond
// the end. They arrive in boxes of 64 columns. Of row n in a box the copy engine puts piece p, of
// 16 bytes, where piece p ^ n % 8 would be: the tensor cores expect that.
__device__ void ask(unsigned char *to, const CUtensorMap &map, int row, int head,
                    const Mbarrier &full) {
    for (int box = 0; box < 2 * (DIM / 64); box++)
        tma_load(to + box * BOX, map, full, box % (DIM / 64) * 64, row,
                 2 * head + box / (DIM / 64));
}

// matrix_descriptor's sum, not its bits: so the compiler folds what is added behind it.
__device__ uint64_t operand(const unsigned char *rows) {
    const uint64_t start = (uint32_t)__cvta_generic_to_shared(rows) % (1 << 18) / 16;
    return start + ((uint64_t)(1024 / 16) << 32) + ((uint64_t)1 << 62);
}

// --- Attention

// What a thread knows of its two queries, 8 rows apart. Its number 4 j + 2 h + c, of scores and of
// the output, is that of column 8 j + lane % 4 * 2 + c in row lane / 4 + 8 h of its warp's 16.
struct Rows {
    float out[DIM / 2] = {}; // times 2^unit
    float largest[2] = {-INFINITY, -INFINITY}, sum[2] = {}, scale[2], rescale[2];
    int unit = 126;
};

// score = q * k^T for 64 queries. Tensor cores cut off what they cannot keep of a sum, so the two
// small products come first: then only a third of the additions meet a large sum.
__device__ void scores(float (&score)[KEYS / 2], const unsigned char *q, const unsigned char *k) {
    constexpr int LOW = DIM / 64 * BOX;
    wgmma_fence();
#pragma unroll
    for (int pass = 0; pass < 3; pass++) // low * high, high * low, high * high
#pragma unroll
        for (int x = 0; x < DIM / 16; x++) {
            const int at = x / 4 * BOX;
            wgmma<KEYS, __half>(score, operand(q + (pass == 0 ? LOW : 0) + at) + x % 4 * 2,
                                operand(k + (pass == 1 ? LOW : 0) + at) + x % 4 * 2, pass + x > 0);
        }
    wgmma_commit();
    wgmma_wait<0>(score);
}

// Undoes the keys' scales, and leaves -infinity for keys that a query does not see: none if all
// are there and seen. unit becomes the least scale of the values so far.
__device__ void mask(float (&score)[KEYS / 2], const int *kScale, const int *vScale, int key0,
                     int seqK, int lastKey, bool edge, int &unit) {
    const int lane = threadIdx.x % 32, groups = (seqK + 7) / 8;
#pragma unroll
    for (int j = 0; j < KEYS / 8; j++) {
        const int group = min(key0 / 8 + j, groups - 1);
        const float back = powerOfTwo(-kScale[group]);
        unit = min(unit, vScale[group]);
#pragma unroll
        for (int c = 0; c < 4; c++) {
            const int key = key0 + j * 8 + lane % 4 * 2 + c % 2;
            float &s = score[4 * j + c];
            s *= back;
            if (edge && (key >= seqK || key > lastKey + c / 2 * 8)) s = -INFINITY;
        }
    }
}

// Online softmax turns scores into probabilities: a new maximum rescales what was summed relative
// to the old one, by 2^(old - new). So does a new unit: values larger than all before, with the
// smallest scale. Probabilities are 2^14 times what they are called: the division undoes that.
__device__ void softmax(Rows &r, float (&score)[KEYS / 2], int unit) {
#pragma unroll
    for (int h = 0; h < 2; h++) {
        float most = -INFINITY;
#pragma unroll
        for (int i = 2 * h; i < KEYS / 2; i += 4) most = fmaxf(most, fmaxf(score[i], score[i + 1]));
        most = fmaxf(most, __shfl_xor_sync(EVERYONE, most, 1)); // four lanes share a row
        most = fmaxf(most, __shfl_xor_sync(EVERYONE, most, 2));
        most = fmaxf(r.largest[h], most * r.scale[h]);
        const float base = most == -INFINITY ? 0.0f : most; // any number, as long as no key is seen
        r.rescale[h] = exp2f(r.largest[h] - base);
        r.largest[h] = most;
        r.sum[h] *= r.rescale[h];
        r.rescale[h] *= powerOfTwo(unit - r.unit);
#pragma unroll
        for (int i = 2 * h; i < KEYS / 2; i += 4)
            for (int c = 0; c < 2; c++) {
                score[i + c] = exp2f(fmaf(score[i + c], r.scale[h], 14.0f - base));
                r.sum[h] += score[i + c];
            }
    }
    r.unit = unit;
}

// Cuts probabilities, as the products take them: register i has numbers 2 i and 2 i + 1. A group of
// small values was scaled by more; its probabilities make up for that.
__device__ void cutAll(const float (&p)[KEYS / 2], unsigned (&high)[KEYS / 4],
                       unsigned (&low)[KEYS / 4], const int *vScale, int group0, int groups,
                       int unit) {
#pragma unroll
    for (int i = 0; i < KEYS / 4; i++) {
        const float by = powerOfTwo(unit - vScale[min(group0 + i / 2, groups - 1)]);
        cut(p[2 * i] * by, p[2 * i + 1] * by, high[i], low[i]);
    }
}

// out = out * rescale + probabilities * v, 64 columns at a time. A sum is that of 64 keys: it
// starts from zero, so that few additions cut off, and meets the output once, by one that rounds.
__device__ void addValues(Rows &r, const unsigned (&high)[KEYS / 4],
                          const unsigned (&low)[KEYS / 4], const unsigned char *v) {
    constexpr int LOW = DIM / 64 * BOX;
#pragma unroll
    for (int box = 0; box < DIM / 64; box++) {
        float part[KEYS / 64][32];
        wgmma_fence();
#pragma unroll
        for (int pass = 0; pass < 3; pass++)
#pragma unroll
            for (int j = 0; j < KEYS / 16; j++) // 16 keys are 2048 bytes
                wgmma<64, __half, MN_MAJOR>(part[j / 4], (pass == 0 ? low : high) + 4 * j,
                                            operand(v + (pass == 1 ? LOW : 0) + box * BOX) +
                                                j * 2048 / 16,
                                            pass + j % 4 > 0);
        wgmma_commit();
        wgmma_wait<0>(part);
#pragma unroll
        for (int i = 0; i < 32; i++) {
            float &sum = r.out[box * 32 + i];
            sum = fmaf(sum, r.rescale[i / 2 % 2], part[0][i]) + part[1][i];
        }
    }
}

// Divides by the sum, once, and writes the rows that there are. A query without a key gets zeros.
__device__ void write(const Rows &r, float *out, int row, int rows) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int h = 0; h < 2; h++) {
        float sum = r.sum[h];
        sum += __shfl_xor_sync(EVERYONE, sum, 1);
        sum += __shfl_xor_sync(EVERYONE, sum, 2);
        const float by = sum > 0.0f ? powerOfTwo(-r.unit) / sum : sum; // NaN stays NaN
        if (row + 8 * h >= rows) continue;
        float *to = out + (size_t)(row + 8 * h) * DIM + lane % 4 * 2;
#pragma unroll
        for (int i = 2 * h; i < DIM / 2; i += 4)
            *(float2 *)(to + i / 4 * 8) = make_float2(r.out[i] * by, r.out[i + 1] * by);
    }
}

// x is the tile of queries, y the head. factor is log2(e) / sqrt(DIM). The scales are those of
// groups of 8 rows, as cut_rows leaves them.
extern "C" __global__ void __launch_bounds__((MULTIPLIERS + 1) * WARPGROUP, 1)
    flash(const __grid_constant__ CUtensorMap qMap, const __grid_constant__ CUtensorMap kMap,
          const __grid_constant__ CUtensorMap vMap, const int *qScale, const int *kScale,
          const int *vScale, float *out, int seqQ, int seqK, int groupSize, int causal,
          float factor) {
    extern __shared__ unsigned char memory[];
    __shared__ Mbarrier qFull, kFull, vFull, kEmpty, vEmpty;
    unsigned char *q = (unsigned char *)(((uintptr_t)memory + 1023) / 1024 * 1024);
    unsigned char *k = q + TILE, *v = k + TILE;
    // Tiles with the most keys come first: those at the end, where there is a mask.
    const int head = blockIdx.y, row0 = (gridDim.x - 1 - blockIdx.x) * KEYS;
    const int lead = causal ? seqK - seqQ : seqK; // query i sees keys 0 ... i + lead
    const int keys = max(min(seqK, row0 + KEYS + lead), 0), tiles = (keys + KEYS - 1) / KEYS;
    if (threadIdx.x == 0) {
        qFull.init(1), kFull.init(1), vFull.init(1);
        kEmpty.init(4 * MULTIPLIERS), vEmpty.init(4 * MULTIPLIERS); // each warp arrives
        fence_mbarrier_init();
    }
    __syncthreads();

    // The asking warpgroup gives up registers, which the others take.
    const int warpgroup = threadIdx.x / WARPGROUP, lane = threadIdx.x % 32;
    if (warpgroup == MULTIPLIERS) {
        setmaxnreg_dec<24>();
        if (threadIdx.x % WARPGROUP != 0 || tiles == 0) return;
        qFull.arrive_expect_tx(TILE);
        ask(q, qMap, row0, head, qFull);
        for (int i = 0; i < tiles; i++) {
            kEmpty.wait(i % 2 ^ 1);
            kFull.arrive_expect_tx(TILE);
            ask(k, kMap, i * KEYS, head / groupSize, kFull);
            vEmpty.wait(i % 2 ^ 1);
            vFull.arrive_expect_tx(TILE);
            ask(v, vMap, i * KEYS, head / groupSize, vFull);
        }
        return;
    }
    setmaxnreg_inc<240>();
    const int row = row0 + threadIdx.x / 32 * 16 + lane / 4;
    const int groupsQ = (seqQ + 7) / 8, groupsK = (seqK + 7) / 8;
    kScale += head / groupSize * groupsK, vScale += head / groupSize * groupsK;
    Rows r;
    for (int h = 0; h < 2; h++)
        r.scale[h] = factor * powerOfTwo(-qScale[head * groupsQ + min(row / 8 + h, groupsQ - 1)]);
    if (tiles > 0) qFull.wait(0);
    for (int i = 0; i < tiles; i++) {
        const int key0 = i * KEYS;
        float score[KEYS / 2];
        unsigned high[KEYS / 4], low[KEYS / 4];
        // 1. Scores. Then this warp no longer needs the keys.
        kFull.wait(i % 2);
        scores(score, q + warpgroup * 64 * 128, k);
        if (lane == 0) kEmpty.arrive();
        // 2. The softmax: meanwhile the other warpgroup's products run.
        const bool edge = key0 + KEYS > min(seqK, row0 + warpgroup * 64 + lead + 1);
        int unit = r.unit;
        mask(score, kScale, vScale, key0, seqK, row + lead, edge, unit);
        softmax(r, score, unit);
        cutAll(score, high, low, vScale, key0 / 8, groupsK, unit);
        // 3. Weighted values.
        vFull.wait(i % 2);
        addValues(r, high, low, v);
        if (lane == 0) vEmpty.arrive();
    }
    write(r, out + (size_t)head * seqQ * DIM, row, seqQ);
}
