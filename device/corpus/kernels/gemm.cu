// c = a × b, row by row in memory: a is m × k, b is k × n, c is m × n.
#define TILE 16

// gemm_naive: a thread an element, everything from global memory.
extern "C" __global__ void gemm_naive(const float *a, const float *b, float *c, int m, int n,
                                      int k) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m || col >= n) return;
    float sum = 0;
    for (int i = 0; i < k; i++) sum += a[row * k + i] * b[i * n + col];
    c[row * n + col] = sum;
}

// gemm_tiled: tiles of both in shared memory.
extern "C" __global__ void gemm_tiled(const float *a, const float *b, float *c, int m, int n,
                                      int k) {
    __shared__ float as[TILE][TILE], bs[TILE][TILE];
    int ty = threadIdx.y, tx = threadIdx.x;
    int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
    float sum = 0;
    for (int from = 0; from < k; from += TILE) {
        as[ty][tx] = row < m && from + tx < k ? a[row * k + from + tx] : 0.f;
        bs[ty][tx] = from + ty < k && col < n ? b[(from + ty) * n + col] : 0.f;
        __syncthreads();
#pragma unroll
        for (int i = 0; i < TILE; i++) sum += as[ty][i] * bs[i][tx];
        __syncthreads();
    }
    if (row < m && col < n) c[row * n + col] = sum;
}

// gemm_double: the next tiles are fetched while these are used; two buffers, so
// one barrier a step will do.
extern "C" __global__ void gemm_double(const float *a, const float *b, float *c, int m, int n,
                                       int k) {
    __shared__ float as[2][TILE][TILE + 1], bs[2][TILE][TILE];
    int ty = threadIdx.y, tx = threadIdx.x;
    int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
    auto fetchA = [&](int from) { return row < m && from + tx < k ? a[row * k + from + tx] : 0.f; };
    auto fetchB = [&](int from) {
        return from + ty < k && col < n ? b[(from + ty) * n + col] : 0.f;
    };
    as[0][ty][tx] = fetchA(0);
    bs[0][ty][tx] = fetchB(0);
    __syncthreads();
    float sum = 0;
    int now = 0;
    for (int from = 0; from < k; from += TILE) {
        bool more = from + TILE < k;
        float nextA = 0, nextB = 0;
        if (more) nextA = fetchA(from + TILE), nextB = fetchB(from + TILE);
#pragma unroll
        for (int i = 0; i < TILE; i++) sum = fmaf(as[now][ty][i], bs[now][i][tx], sum);
        if (more) as[now ^ 1][ty][tx] = nextA, bs[now ^ 1][ty][tx] = nextB;
        __syncthreads();
        now ^= 1;
    }
    if (row < m && col < n) c[row * n + col] = sum;
}

// gemm_coarse: a thread computes four rows of a column, so that each element of
// b read from shared memory serves four times.
extern "C" __global__ void __launch_bounds__(256)
    gemm_coarse(const float *a, const float *b, float *c, int m, int n, int k) {
    __shared__ float as[32][8], bs[8][32];
    int tx = threadIdx.x % 32, ty = threadIdx.x / 32; // 32 × 8 threads
    int top = blockIdx.y * 32, left = blockIdx.x * 32;
    float sum[4] = {0, 0, 0, 0};
    for (int from = 0; from < k; from += 8) {
        int ar = threadIdx.x / 8, ac = threadIdx.x % 8;
        as[ar][ac] = top + ar < m && from + ac < k ? a[(top + ar) * k + from + ac] : 0.f;
        bs[ty][tx] = from + ty < k && left + tx < n ? b[(from + ty) * n + left + tx] : 0.f;
        __syncthreads();
        for (int i = 0; i < 8; i++) {
            float v = bs[i][tx];
#pragma unroll
            for (int r = 0; r < 4; r++) sum[r] += as[ty * 4 + r][i] * v;
        }
        __syncthreads();
    }
    for (int r = 0; r < 4; r++)
        if (top + ty * 4 + r < m && left + tx < n) c[(top + ty * 4 + r) * n + left + tx] = sum[r];
}

// gemm_register: 64 × 64 a block, 4 × 4 a thread, kept in registers.
extern "C" __global__ void __launch_bounds__(256)
    gemm_register(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c,
                  int m, int n, int k) {
    constexpr int BM = 64, BN = 64, BK = 8, TM = 4, TN = 4;
    __shared__ float as[BK][BM], bs[BK][BN]; // a's tile lies on its side
    int t = threadIdx.x, ty = t / (BN / TN), tx = t % (BN / TN);
    int top = blockIdx.y * BM, left = blockIdx.x * BN;
    float sum[TM][TN] = {};
    for (int from = 0; from < k; from += BK) {
        for (int i = t; i < BM * BK; i += blockDim.x) {
            int r = i / BK, q = i % BK;
            as[q][r] = top + r < m && from + q < k ? a[(top + r) * k + from + q] : 0.f;
        }
        for (int i = t; i < BK * BN; i += blockDim.x) {
            int q = i / BN, s = i % BN;
            bs[q][s] = from + q < k && left + s < n ? b[(from + q) * n + left + s] : 0.f;
        }
        __syncthreads();
        for (int q = 0; q < BK; q++) {
            float u[TM], v[TN];
            for (int r = 0; r < TM; r++) u[r] = as[q][ty * TM + r];
            for (int s = 0; s < TN; s++) v[s] = bs[q][tx + s * (BN / TN)];
            for (int r = 0; r < TM; r++)
                for (int s = 0; s < TN; s++) sum[r][s] += u[r] * v[s];
        }
        __syncthreads();
    }
    for (int r = 0; r < TM; r++)
        for (int s = 0; s < TN; s++) {
            int row = top + ty * TM + r, col = left + tx + s * (BN / TN);
            if (row < m && col < n) c[row * n + col] = sum[r][s];
        }
}

__device__ __forceinline__ float4 load4(const float *p) {
    return *reinterpret_cast<const float4 *>(p);
}

// gemm_warp: 64 × 64 a block, 32 × 32 a warp, 4 × 8 a thread, and every access
// four numbers wide. m and n are multiples of 64, k of 16.
extern "C" __global__ void __launch_bounds__(128)
    gemm_warp(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c,
              int m, int n, int k) {
    constexpr int BM = 64, BN = 64, BK = 16, TM = 4, TN = 8;
    __shared__ __align__(16) float as[BK][BM + 4];
    __shared__ __align__(16) float bs[BK][BN];
    int t = threadIdx.x, lane = t % 32, warp = t / 32;
    int row = warp / 2 * 32 + lane / 4 * TM, col = warp % 2 * 32 + lane % 4 * TN;
    a += (size_t)blockIdx.y * BM * k;
    b += (size_t)blockIdx.x * BN;
    float sum[TM][TN] = {};
    for (int from = 0; from < k; from += BK) {
        for (int i = t; i < BM * BK / 4; i += 128) {
            int r = i / (BK / 4), q = i % (BK / 4) * 4;
            float4 v = load4(a + (size_t)r * k + from + q);
            as[q][r] = v.x, as[q + 1][r] = v.y, as[q + 2][r] = v.z, as[q + 3][r] = v.w;
        }
        for (int i = t; i < BK * BN / 4; i += 128) {
            int q = i / (BN / 4), s = i % (BN / 4) * 4;
            *reinterpret_cast<float4 *>(&bs[q][s]) = load4(b + (size_t)(from + q) * n + s);
        }
        __syncthreads();
#pragma unroll
        for (int q = 0; q < BK; q++) {
            float4 u = load4(&as[q][row]), v = load4(&bs[q][col]), w = load4(&bs[q][col + 4]);
            float us[TM] = {u.x, u.y, u.z, u.w};
            float vs[TN] = {v.x, v.y, v.z, v.w, w.x, w.y, w.z, w.w};
#pragma unroll
            for (int r = 0; r < TM; r++)
#pragma unroll
                for (int s = 0; s < TN; s++) sum[r][s] = fmaf(us[r], vs[s], sum[r][s]);
        }
        __syncthreads();
    }
    float *to = c + (size_t)(blockIdx.y * BM + row) * n + blockIdx.x * BN + col;
#pragma unroll
    for (int r = 0; r < TM; r++, to += n) {
        *reinterpret_cast<float4 *>(to) = make_float4(sum[r][0], sum[r][1], sum[r][2], sum[r][3]);
        *reinterpret_cast<float4 *>(to + 4) =
            make_float4(sum[r][4], sum[r][5], sum[r][6], sum[r][7]);
    }
}
