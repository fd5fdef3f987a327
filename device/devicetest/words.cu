// words.cu - hopper.h beside what Go computes, or the kernel itself: words.go calls these.
#include <hopper.h>
#include <stdint.h>

// --- Products: every width, type and kind of factor

// Small integers, which all types have exactly.
__device__ int ofA(int row, int k) {
    return (row * 3 + k * 5) % 7 - 3;
}
__device__ int ofB(int column, int k) {
    return (column + k * k) % 5 - 2;
}
__device__ uint32_t codeOf(int v, __half) {
    return __half_as_ushort(__int2half_rn(v));
}
__device__ uint32_t codeOf(int v, __nv_bfloat16) {
    return __bfloat16_as_ushort(__float2bfloat16_rn(v));
}
__device__ uint32_t codeOf(int v, int8_t) {
    return (uint8_t)v;
}

__shared__ __align__(1024) unsigned char tileA[64 * 128], tileB[256 * 128];

// Where the copy engine puts a byte of a line, by a map that swizzles by 128, 64 or 32 bytes.
template <int SWIZZLE> __device__ int place(int line, int byte) {
    const int at = line * SWIZZLE + byte;
    return at ^ (at >> 7 & (SWIZZLE / 16 - 1)) << 4;
}

template <class Type> __device__ void put(unsigned char *at, int v) {
    if (sizeof(Type) == 2)
        *(uint16_t *)at = (uint16_t)codeOf(v, Type());
    else
        *at = (unsigned char)codeOf(v, Type());
}

// Counts the threads with a wrong sum: of a in shared memory; then of a in registers, added to it.
template <int N, class Type, Major B, int SWIZZLE> __device__ void product(unsigned *wrong) {
    constexpr int DEPTH = 32 / sizeof(Type);
    __syncthreads(); // the product before has been checked
    for (int i = threadIdx.x; i < 64 * DEPTH; i += blockDim.x)
        put<Type>(tileA + place<SWIZZLE>(i / DEPTH, i % DEPTH * sizeof(Type)),
                  ofA(i / DEPTH, i % DEPTH));
    for (int i = threadIdx.x; i < N * DEPTH; i += blockDim.x) {
        const int column = i / DEPTH, k = i % DEPTH, wide = SWIZZLE / sizeof(Type);
        const int at = B == K_MAJOR ? place<SWIZZLE>(column, k * sizeof(Type))
                                    : column / wide * DEPTH * SWIZZLE +
                                          place<SWIZZLE>(k, column % wide * sizeof(Type));
        put<Type>(tileB + at, ofB(column, k));
    }
    fence_proxy_async();
    __syncthreads();

    const int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    uint32_t a[4] = {};
    for (int i = 0; i < 16; i++) {
        const int word = i / 4, byte = word / 2 * 16 + t * 4 + i % 4;
        const uint32_t code =
            codeOf(ofA(16 * warp + g + word % 2 * 8, byte / sizeof(Type)), Type()) >>
            byte % sizeof(Type) * 8;
        a[word] |= (code & 255) << i % 4 * 8;
    }
    typename std::conditional<sizeof(Type) == 1, int, float>::type d[N / 2];
    for (auto &x : d) x = 77;
    const uint64_t b = matrix_descriptor<SWIZZLE>(tileB, DEPTH * SWIZZLE);
    wgmma_fence();
    wgmma<N, Type, B>(d, matrix_descriptor<SWIZZLE>(tileA), b, false);
    wgmma<N, Type, B>(d, a, b);
    wgmma_commit();
    wgmma_wait<0>(d);
    bool right = true;
    for (int i = 0; i < N / 2; i++) {
        const int row = 16 * warp + g + i / 2 % 2 * 8, column = i / 4 * 8 + 2 * t + i % 2;
        int sum = 0;
        for (int k = 0; k < DEPTH; k++) sum += ofA(row, k) * ofB(column, k);
        right = right && d[i] == 2 * sum;
    }
    if (!right) atomicAdd(wrong, 1);
}

template <int N> __device__ void products(unsigned *wrong) {
    product<N, __half, K_MAJOR, 128>(wrong);
    product<N, __nv_bfloat16, K_MAJOR, 64>(wrong + 1);
    product<N, int8_t, K_MAJOR, 128>(wrong + 2);
    product<N, __half, MN_MAJOR, 128>(wrong + 3);
}

extern "C" __global__ void __launch_bounds__(128, 1) word_products(unsigned *wrong) {
    products<8>(wrong);
    products<16>(wrong + 4);
    products<32>(wrong + 8);
    products<64>(wrong + 12);
    products<96>(wrong + 16);
    products<128>(wrong + 20);
    products<160>(wrong + 24);
    products<192>(wrong + 28);
    products<256>(wrong + 32);
}

// --- Barriers and copies, between warpgroups that share registers unevenly

// Five pieces of 1 KB: two in a row, two boxes of a flat tensor, one of a deep one. One thread asks
// for them, a warpgroup doubles each; its first warp keeps, once all have met, what the others
// left.
extern "C" __global__ void __launch_bounds__(256, 1)
    word_copies(const unsigned *in, const __grid_constant__ CUtensorMap flat,
                const __grid_constant__ CUtensorMap deep, unsigned *out) {
    __shared__ __align__(128) unsigned piece[2][256];
    __shared__ Mbarrier full[2], empty[2];
    if (threadIdx.x < 2) {
        full[threadIdx.x].init(1), empty[threadIdx.x].init(1);
        fence_mbarrier_init();
    }
    __syncthreads();
    if (threadIdx.x / 128 == 1) {
        setmaxnreg_dec<40>();
        if (threadIdx.x % 128 != 0) return;
        bulk_prefetch(in, 2048);
        for (int i = 0; i < 5; i++) {
            Mbarrier &there = full[i % 2];
            empty[i % 2].wait(i / 2 % 2 ^ 1);
            there.arrive_expect_tx(1024);
            if (i < 2)
                bulk_load(piece[i], in + 256 * i, 1024, there);
            else if (i < 4)
                tma_load(piece[i % 2], flat, there, 0, 8 * i);
            else
                tma_load(piece[0], deep, there, 0, 0, 4);
        }
        return;
    }
    setmaxnreg_inc<232>();
    for (int i = 0; i < 5; i++) {
        full[i % 2].wait(i / 2 % 2);
        unsigned *mine = piece[i % 2];
        for (int j = threadIdx.x; j < 256; j += 128) mine[j] *= 2;
        if (threadIdx.x >= 32) {
            named_barrier_arrive(1, 128);
        } else {
            named_barrier_sync(1, 128);
            for (int j = threadIdx.x; j < 256; j += 32) out[256 * i + j] = mine[j];
            fence_proxy_async(); // the copy engine writes here next
            __syncwarp();
            if (threadIdx.x == 0) empty[i % 2].arrive();
        }
        named_barrier_sync(2, 128);
    }
}

// A warp stores a 16 x 64 tile of halves by matrices into a swizzled box, and a box takes it away:
// once whole, once across the lower edge of the tensor. Element (r, c) is 64 * r + c, as an
// integer.
extern "C" __global__ void word_stores(const __grid_constant__ CUtensorMap to) {
    __shared__ __align__(1024) unsigned short box[16][64];
    const int lane = threadIdx.x, g = lane / 4, t = lane % 4;
    for (int row = 0; row < 32; row += 16) {
        if (lane == 0) bulk_wait_read<0>(); // the box before has left
        __syncwarp();
        for (int j = 0; j < 4; j++) { // 16 columns
            unsigned r[4];
            for (int e = 0; e < 4; e++) {
                const unsigned first = 64 * (row + g + e % 2 * 8) + 16 * j + e / 2 * 8 + 2 * t;
                r[e] = first | (first + 1) << 16;
            }
            const int line = lane % 16, piece = 2 * j + lane / 16;
            store_matrix(&box[line][(piece ^ line % 8) * 8], r);
        }
        fence_proxy_async();
        __syncwarp();
        if (lane == 0) {
            tma_store(to, box, 0, row, 0);
            bulk_commit();
        }
    }
    if (lane == 0) bulk_wait<0>();
}
