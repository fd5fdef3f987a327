// hopper.cu - Hopper's instructions beside what Go computes: hopper.go calls these. Shared memory
// is filled byte for byte as Go says, so that descriptors and swizzles are seen as they are.
#include <cuda.h>
#include <stdint.h>

#define AT(p) (uint32_t) __cvta_generic_to_shared(p)

__device__ void prepare(uint64_t *barrier, int arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(AT(barrier)), "r"(arrivals));
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ void announce(uint64_t *barrier, uint32_t bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(AT(barrier)),
                 "r"(bytes)
                 : "memory");
}
__device__ void await(uint64_t *barrier, int phase) {
    asm volatile("{\n"
                 ".reg .pred p;\n"
                 "AGAIN:\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
                 "@p bra DONE;\n"
                 "bra AGAIN;\n"
                 "DONE:\n"
                 "}" ::"r"(AT(barrier)),
                 "r"(phase)
                 : "memory");
}
__device__ void handOver() {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// --- Products: m64n64, 32 bytes deep

#define FOUR(d, i) "+r"(d[i]), "+r"(d[i + 1]), "+r"(d[i + 2]), "+r"(d[i + 3])
#define SIXTEEN(d, i) FOUR(d, i), FOUR(d, i + 4), FOUR(d, i + 8), FOUR(d, i + 12)
#define NAMES16 "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15"
#define NAMES32 NAMES16 ",%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31"
// Both factors in shared memory; a in registers; sums of 16 bits. `rest` is what follows a type's
// descriptors and the predicate.
#define SHARED(type, rest)                                                                         \
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %34, 0;\n"                                        \
                 "wgmma.mma_async.sync.aligned.m64n64" type " {" NAMES32 "}, %32, %33, p" rest     \
                 "; }"                                                                             \
                 : SIXTEEN(d, 0), SIXTEEN(d, 16)                                                   \
                 : "l"(a), "l"(b), "r"(adds))
#define REGISTERS(type, rest)                                                                      \
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %37, 0;\n"                                        \
                 "wgmma.mma_async.sync.aligned.m64n64" type " {" NAMES32                           \
                 "}, {%32,%33,%34,%35}, %36, p" rest "; }"                                         \
                 : SIXTEEN(d, 0), SIXTEEN(d, 16)                                                   \
                 : "r"(w[0]), "r"(w[1]), "r"(w[2]), "r"(w[3]), "l"(b), "r"(adds))
#define NARROW(type, rest)                                                                         \
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %18, 0;\n"                                        \
                 "wgmma.mma_async.sync.aligned.m64n64" type " {" NAMES16 "}, %16, %17, p" rest     \
                 "; }"                                                                             \
                 : SIXTEEN(d, 0)                                                                   \
                 : "l"(a), "l"(b), "r"(adds))

// imageA and imageB are 8 KB of shared memory each, which the descriptors a and b lack the address
// of; fragments are four words a thread. sums: 32 words a thread, to and fro.
extern "C" __global__ void group_product(const unsigned *imageA, const unsigned *imageB,
                                         const unsigned *fragments, unsigned *sums,
                                         unsigned long long a, unsigned long long b, int form,
                                         int adds) {
    __shared__ __align__(1024) unsigned tileA[2048], tileB[2048];
    for (int i = threadIdx.x; i < 2048; i += 128) tileA[i] = imageA[i], tileB[i] = imageB[i];
    handOver();
    __syncthreads();
    a |= AT(tileA) / 16, b |= AT(tileB) / 16;
    unsigned w[4], d[32];
    for (int i = 0; i < 4; i++) w[i] = fragments[4 * threadIdx.x + i];
#pragma unroll
    for (int i = 0; i < 32; i++) d[i] = sums[32 * threadIdx.x + i];
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    if (form == 0) SHARED("k16.f32.f16.f16", ", 1, 1, 0, 0");
    if (form == 1) SHARED("k16.f32.f16.f16", ", 1, 1, 1, 1");
    if (form == 2) SHARED("k16.f32.f16.f16", ", -1, 1, 1, 0");
    if (form == 3) SHARED("k16.f32.bf16.bf16", ", 1, -1, 0, 1");
    if (form == 4) REGISTERS("k16.f32.f16.f16", ", 1, 1, 0");
    if (form == 5) REGISTERS("k16.f32.bf16.bf16", ", -1, 1, 1");
    if (form == 6) SHARED("k8.f32.tf32.tf32", ", 1, 1");
    if (form == 7) REGISTERS("k8.f32.tf32.tf32", ", 1, 1");
    if (form == 8) SHARED("k32.s32.s8.s8", "");
    if (form == 9) SHARED("k32.s32.u8.s8", "");
    if (form == 10) REGISTERS("k32.s32.u8.u8", "");
    if (form == 11) SHARED("k32.f32.e4m3.e4m3", ", 1, 1");
    if (form == 12) SHARED("k32.f32.e5m2.e4m3", ", 1, 1");
    if (form == 13) REGISTERS("k32.f32.e4m3.e5m2", ", 1, -1");
    if (form == 14) NARROW("k16.f16.f16.f16", ", 1, 1, 0, 0");
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
    for (int i = 0; i < 32; i++) {
        asm volatile("" : "+r"(d[i])::"memory");
        sums[32 * threadIdx.x + i] = d[i];
    }
}

// --- Boxes of a tensor

#define LOAD(rank, coordinates)                                                                    \
    asm volatile("cp.async.bulk.tensor." rank                                                      \
                 ".shared::cluster.global.mbarrier::complete_tx::bytes "                           \
                 "[%0], [%1, {" coordinates "}], [%2];" ::"r"(AT(box)),                            \
                 "l"(&map), "r"(AT(&full)), "r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(c4)            \
                 : "memory")
#define STORE(rank, coordinates)                                                                   \
    asm volatile("cp.async.bulk.tensor." rank ".global.shared::cta.bulk_group "                    \
                 "[%1, {" coordinates "}], [%0];" ::"r"(AT(box)),                                  \
                 "l"(&map), "r"(0), "r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(c4)                    \
                 : "memory")

// A box as it lies in shared memory.
extern "C" __global__ void box_in(const __grid_constant__ CUtensorMap map, int rank, int c0, int c1,
                                  int c2, int c3, int c4, unsigned bytes, unsigned *out) {
    __shared__ __align__(1024) unsigned box[4096];
    __shared__ uint64_t full;
    if (threadIdx.x == 0) prepare(&full, 1);
    __syncthreads();
    if (threadIdx.x == 0) {
        announce(&full, bytes);
        if (rank == 1) LOAD("1d", "%3");
        if (rank == 2) LOAD("2d", "%3, %4");
        if (rank == 3) LOAD("3d", "%3, %4, %5");
        if (rank == 4) LOAD("4d", "%3, %4, %5, %6");
        if (rank == 5) LOAD("5d", "%3, %4, %5, %6, %7");
    }
    await(&full, 0);
    for (int i = threadIdx.x; i < bytes / 4; i += blockDim.x) out[i] = box[i];
}
extern "C" __global__ void box_out(const __grid_constant__ CUtensorMap map, int rank, int c0,
                                   int c1, int c2, int c3, int c4, unsigned bytes,
                                   const unsigned *in) {
    __shared__ __align__(1024) unsigned box[4096];
    for (int i = threadIdx.x; i < bytes / 4; i += blockDim.x) box[i] = in[i];
    handOver();
    __syncthreads();
    if (threadIdx.x) return;
    if (rank == 1) STORE("1d", "%3");
    if (rank == 2) STORE("2d", "%3, %4");
    if (rank == 3) STORE("3d", "%3, %4, %5");
    if (rank == 4) STORE("4d", "%3, %4, %5, %6");
    if (rank == 5) STORE("5d", "%3, %4, %5, %6, %7");
    asm volatile("cp.async.bulk.commit_group;");
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

// --- Plain bulk copies, through a ring of two, and every other way to wait

// Four pieces of 1 KB: the first warp asks for them, the second doubles them, the third sends them.
extern "C" __global__ void ring(const unsigned *in, unsigned *out) {
    __shared__ __align__(128) unsigned piece[2][256];
    __shared__ uint64_t full[2], empty[2];
    if (threadIdx.x < 2) {
        prepare(&full[threadIdx.x], 1);
        prepare(&empty[threadIdx.x], 1);
    }
    __syncthreads();
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int i = 0; i < 4; i++) {
        const int stage = i % 2, phase = i / 2 % 2;
        if (warp == 0 && lane == 0) {
            await(&empty[stage], phase ^ 1);
            announce(&full[stage], 1024);
            asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                         "[%0], [%1], 1024, [%2];" ::"r"(AT(piece[stage])),
                         "l"(in + 256 * i), "r"(AT(&full[stage]))
                         : "memory");
        }
        if (warp == 1) {
            if (lane == 0) await(&full[stage], phase);
            __syncwarp();
            for (int j = lane; j < 256; j += 32) piece[stage][j] *= 2;
            handOver();
            asm volatile("bar.sync 1, 64;" ::: "memory");
        }
        if (warp == 2) {
            asm volatile("bar.sync 1, 64;" ::: "memory");
            if (lane == 0) {
                asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 1024;" ::"l"(
                                 out + 256 * i),
                             "r"(AT(piece[stage]))
                             : "memory");
                asm volatile("cp.async.bulk.commit_group;");
                asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
                asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(AT(&empty[stage]))
                             : "memory");
            }
        }
    }
    if (warp == 2 && lane == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

// The sum of 128 numbers by all threads that arrive, and wait by the state they got.
extern "C" __global__ void arrivals(const unsigned *in, unsigned *out) {
    __shared__ unsigned numbers[128];
    __shared__ uint64_t all;
    if (threadIdx.x == 0) prepare(&all, 128);
    __syncthreads();
    unsigned long long state;
    unsigned over = 0, sum = 0, elected;
    for (int round = 0; round < 3; round++) {
        numbers[threadIdx.x] = in[threadIdx.x] + round;
        asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1];"
                     : "=l"(state)
                     : "r"(AT(&all))
                     : "memory");
        for (over = 0; !over;)
            asm volatile("{ .reg .pred p; mbarrier.test_wait.shared::cta.b64 p, [%1], %2;\n"
                         "selp.u32 %0, 1, 0, p; }"
                         : "=r"(over)
                         : "r"(AT(&all)), "l"(state)
                         : "memory");
        for (int i = 0; i < 128; i++) sum += numbers[i];
        asm volatile("barrier.sync 3, 128;" ::: "memory");
    }
    asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }"
                 : "=r"(elected));
    out[threadIdx.x] = sum;
    out[128 + threadIdx.x] = elected;
}
