// More of ptx.cu, behind which it is compiled: memory and the tensor cores.

// memory: loads, stores, copies and atomics; x [256] of any bits, sums [4] of zeros.
extern "C" __global__ void memory(const unsigned *x, unsigned *sums, unsigned *got,
                                  unsigned *want) {
    __shared__ __align__(16) unsigned tile[256];
    int lane = threadIdx.x, checks = 0;
    unsigned at = (unsigned)__cvta_generic_to_shared(tile + 4 * lane), r, s, t, u,
             bytes = lane < 16 ? 16 : 8;
    unsigned also;
    asm("{ .reg .u64 a; cvta.to.shared.u64 a, %1; cvt.u32.u64 %0, a; }"
        : "=r"(also)
        : "l"(tile + 4 * lane));
    CHECK(also, at);
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(at), "l"(x + 4 * lane));
    asm volatile("cp.async.commit_group;");
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16, %2;" ::"r"(at + 512),
                 "l"(x + 128 + 4 * lane), "r"(bytes));
    asm volatile("cp.async.commit_group;\n" ::: "memory");
    asm volatile("cp.async.wait_group %0;" ::"n"(1) : "memory");
    asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r), "=r"(s), "=r"(t), "=r"(u)
                 : "r"(at));
    CHECK(r ^ s ^ t ^ u, x[4 * lane] ^ x[4 * lane + 1] ^ x[4 * lane + 2] ^ x[4 * lane + 3]);
    asm volatile("cp.async.wait_all;" ::: "memory");
    asm volatile("bar.sync 0;");
    asm volatile("ld.shared.v2.b32 {%0, %1}, [%2+520];" : "=r"(r), "=r"(s) : "r"(at ^ 16));
    CHECK(r ^ s, (lane ^ 1) < 16 ? x[128 + 4 * (lane ^ 1) + 2] ^ x[128 + 4 * (lane ^ 1) + 3] : 0u);
    asm volatile("barrier.sync 0;");
    asm volatile("st.shared.v2.b32 [%0+8], {%1, %2};" ::"r"(at), "r"(lane), "r"(lane * lane)
                 : "memory");
    asm volatile("bar.warp.sync 0xffffffff;");
    CHECK(tile[4 * (31 - lane) + 3], (31 - lane) * (31 - lane));
    asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r), "=r"(s), "=r"(t), "=r"(u)
                 : "l"(x + 4 * lane));
    CHECK(u, x[4 * lane + 3]);
    asm volatile("ld.global.cg.u8 %0, [%1+1];" : "=r"(r) : "l"(x + lane));
    CHECK(r, x[lane] >> 8 & 255);
    asm volatile("red.global.add.u32 [%0], %1;" ::"l"(sums), "r"(lane) : "memory");
    asm volatile("atom.global.max.u32 %0, [%1], %2;"
                 : "=r"(r)
                 : "l"(sums + 1), "r"(lane)
                 : "memory");
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
    asm volatile("membar.cta;");
    __syncwarp();
    unsigned sum, most;
    asm volatile("ld.volatile.global.u32 %0, [%1];" : "=r"(sum) : "l"(sums));
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(most) : "l"(sums + 1));
    CHECK(sum, 496u);
    CHECK(most, 31u);
    DONE;
}

// matrices: ldmatrix and stmatrix of x [32 rows, 8 halves].
extern "C" __global__ void matrices(const uint4 *x, unsigned *got, unsigned *want, bool stores) {
    __shared__ __align__(16) uint4 tile[32], stored[32];
    const unsigned short *h = (const unsigned short *)tile, *hs = (const unsigned short *)stored;
    int lane = threadIdx.x, checks = 0, g = lane / 4, t = lane % 4;
    tile[lane] = x[lane];
    stored[lane] = make_uint4(0, 0, 0, 0);
    __syncthreads();
    unsigned at = (unsigned)__cvta_generic_to_shared(tile + lane), r[4];
    unsigned to = (unsigned)__cvta_generic_to_shared(stored + lane);
#define DOWN(j) (h[(8 * (j) + g) * 8 + 2 * t] | (unsigned)h[(8 * (j) + g) * 8 + 2 * t + 1] << 16)
#define ACROSS(j) (h[(8 * (j) + 2 * t) * 8 + g] | (unsigned)h[(8 * (j) + 2 * t + 1) * 8 + g] << 16)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(at));
    for (int j = 0; j < 4; j++) CHECK(r[j], DOWN(j));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(at));
    for (int j = 0; j < 4; j++) CHECK(r[j], ACROSS(j));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared::cta.b16 {%0, %1}, [%2];"
                 : "=r"(r[0]), "=r"(r[1])
                 : "r"(at));
    for (int j = 0; j < 2; j++) CHECK(r[j], DOWN(j));
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];"
                 : "=r"(r[0])
                 : "r"(at));
    CHECK(r[0], ACROSS(0));
    for (int j = 0; j < 4; j++) r[j] = DOWN(j);
    if (stores) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900 || defined(FLASHLAB_SIM)
        asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(to),
                     "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3])
                     : "memory");
        __syncwarp();
        for (int j = 0; j < 8; j++) CHECK(hs[8 * lane + j], h[8 * lane + j]);
        __syncwarp();
        asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1, %2};" ::"r"(to),
                     "r"(r[0]), "r"(r[1])
                     : "memory");
        __syncwarp();
        for (int j = 0; j < 8; j++)
            CHECK(hs[8 * lane + j],
                  lane < 16 ? h[8 * (lane / 8 * 8 + j) + lane % 8] : h[8 * lane + j]);
#endif
    }
    DONE;
}

// products: whole numbers, so that every sum is exact. a [16, 32] and b [32, 8] of -4 to 3.
extern "C" __global__ void products(const unsigned *as, const unsigned *bs, unsigned *got,
                                    unsigned *want) {
    const int *a = (const int *)as, *b = (const int *)bs;
    int lane = threadIdx.x, checks = 0, g = lane / 4, t = lane % 4;
    float f[4];
    unsigned d[4], ha[4], hb[2], ta[4], tb[2], ia[4], ib[2], ba[4], bb[2];
    for (int i = 0; i < 4; i++) {
        int row = g + i % 2 * 8, k = i / 2;
        __half2 p = __floats2half2_rn(a[row * 32 + 8 * k + 2 * t], a[row * 32 + 8 * k + 2 * t + 1]);
        ha[i] = __half_as_ushort(p.x) | (unsigned)__half_as_ushort(p.y) << 16;
        ba[i] = __float_as_uint((float)a[row * 32 + 8 * k + 2 * t]) >> 16 |
                (__float_as_uint((float)a[row * 32 + 8 * k + 2 * t + 1]) & 0xffff0000u);
        ta[i] = __float_as_uint((float)a[row * 32 + 4 * k + t]);
        ia[i] = 0;
        for (int j = 0; j < 4; j++) ia[i] |= (a[row * 32 + 16 * k + 4 * t + j] & 255u) << 8 * j;
    }
    for (int k = 0; k < 2; k++) {
        __half2 p = __floats2half2_rn(b[(8 * k + 2 * t) * 8 + g], b[(8 * k + 2 * t + 1) * 8 + g]);
        hb[k] = __half_as_ushort(p.x) | (unsigned)__half_as_ushort(p.y) << 16;
        bb[k] = __float_as_uint((float)b[(8 * k + 2 * t) * 8 + g]) >> 16 |
                (__float_as_uint((float)b[(8 * k + 2 * t + 1) * 8 + g]) & 0xffff0000u);
        tb[k] = __float_as_uint((float)b[(4 * k + t) * 8 + g]);
        ib[k] = 0;
        for (int j = 0; j < 4; j++) ib[k] |= (b[(16 * k + 4 * t + j) * 8 + g] & 255u) << 8 * j;
    }
    int sums[5][4]; // of the first 4, 8, 16, 32 products, and with a's bytes unsigned
    for (int i = 0; i < 4; i++) {
        int row = g + i / 2 * 8, column = 2 * t + i % 2, sum = 0, whole = 0;
        for (int k = 0; k < 32; k++) {
            if (k == 4) sums[0][i] = sum;
            if (k == 8) sums[1][i] = sum;
            if (k == 16) sums[2][i] = sum;
            sum += a[row * 32 + k] * b[k * 8 + column];
            whole += (a[row * 32 + k] & 255) * b[k * 8 + column];
        }
        sums[3][i] = sum, sums[4][i] = whole;
    }
#define START                                                                                      \
    for (int i = 0; i < 4; i++) f[i] = 1 + i, d[i] = 1 + i
#define FLOATS(n)                                                                                  \
    for (int i = 0; i < 4; i++) CHECK(f[i], (float)(sums[n][i] + 1 + i))
#define INTEGERS(n)                                                                                \
    for (int i = 0; i < 4; i++) CHECK(d[i], sums[n][i] + 1 + i)
    START;
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, "
                 "%7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(f[0]), "+f"(f[1]), "+f"(f[2]), "+f"(f[3])
                 : "r"(ha[0]), "r"(ha[1]), "r"(ha[2]), "r"(ha[3]), "r"(hb[0]), "r"(hb[1]));
    FLOATS(2);
    START;
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, "
                 "%6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(f[0]), "+f"(f[1]), "+f"(f[2]), "+f"(f[3])
                 : "r"(ba[0]), "r"(ba[1]), "r"(ba[2]), "r"(ba[3]), "r"(bb[0]), "r"(bb[1]));
    FLOATS(2);
    START;
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, "
                 "{%6}, {%0, %1, %2, %3};"
                 : "+f"(f[0]), "+f"(f[1]), "+f"(f[2]), "+f"(f[3])
                 : "r"(ha[0]), "r"(ha[1]), "r"(hb[0]));
    FLOATS(1);
    START;
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, "
                 "%6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(f[0]), "+f"(f[1]), "+f"(f[2]), "+f"(f[3])
                 : "r"(ta[0]), "r"(ta[1]), "r"(ta[2]), "r"(ta[3]), "r"(tb[0]), "r"(tb[1]));
    FLOATS(1);
    START;
    asm volatile("mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5}, "
                 "{%6}, {%0, %1, %2, %3};"
                 : "+f"(f[0]), "+f"(f[1]), "+f"(f[2]), "+f"(f[3])
                 : "r"(ta[0]), "r"(ta[1]), "r"(tb[0]));
    FLOATS(0);
    START;
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, "
                 "%7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
                 : "r"(ia[0]), "r"(ia[1]), "r"(ia[2]), "r"(ia[3]), "r"(ib[0]), "r"(ib[1]));
    INTEGERS(3);
    START;
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, "
                 "%7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
                 : "r"(ia[0]), "r"(ia[1]), "r"(ia[2]), "r"(ia[3]), "r"(ib[0]), "r"(ib[1]));
    INTEGERS(4);
    unsigned c[2] = {0x40003c00u, 0x44004200u}; // 1, 2, 3, 4 in halves
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, "
                 "{%6, %7}, {%0, %1};"
                 : "+r"(c[0]), "+r"(c[1])
                 : "r"(ha[0]), "r"(ha[1]), "r"(ha[2]), "r"(ha[3]), "r"(hb[0]), "r"(hb[1]));
    for (int i = 0; i < 4; i++)
        CHECK((unsigned short)(c[i / 2] >> 16 * (i % 2)),
              __half_as_ushort(__float2half((float)(sums[2][i] + 1 + i))));
    DONE;
}
