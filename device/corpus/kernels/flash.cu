// Flash attention forward, three styles. q, k, v and o are [heads, n, D]; with
// causal != 0, a query sees the keys up to its own position.

// flash_thread: a thread a query row, everything of it in registers.
#define D 32
extern "C" __global__ void __launch_bounds__(32)
    flash_thread(const float *q, const float *k, const float *v, float *o, int n, float scale,
                 int causal) {
    constexpr int KEYS = 16;
    __shared__ float ks[KEYS][D], vs[KEYS][D];
    int row = blockIdx.x * 32 + threadIdx.x;
    size_t head = (size_t)blockIdx.y * n * D;
    float query[D], out[D], largest = -INFINITY, total = 0;
    for (int d = 0; d < D; d++) {
        query[d] = row < n ? q[head + row * D + d] * scale : 0.f;
        out[d] = 0;
    }
    for (int from = 0; from < n; from += KEYS) {
        int keys = min(KEYS, n - from);
        __syncthreads();
        for (int i = threadIdx.x; i < keys * D; i += 32) {
            ks[i / D][i % D] = k[head + from * D + i];
            vs[i / D][i % D] = v[head + from * D + i];
        }
        __syncthreads();
        if (causal) keys = min(keys, row - from + 1);
        float score[KEYS], now = largest;
        for (int j = 0; j < keys; j++) {
            score[j] = 0;
            for (int d = 0; d < D; d++) score[j] += query[d] * ks[j][d];
            now = fmaxf(now, score[j]);
        }
        if (keys <= 0) continue;
        float keep = __expf(largest - now);
        largest = now;
        total *= keep;
        for (int d = 0; d < D; d++) out[d] *= keep;
        for (int j = 0; j < keys; j++) {
            float p = __expf(score[j] - now);
            total += p;
            for (int d = 0; d < D; d++) out[d] += p * vs[j][d];
        }
    }
    if (row < n)
        for (int d = 0; d < D; d++) o[head + row * D + d] = out[d] / total;
}

// flash_warp: a warp a query row. For the scores a lane is a key, for the output
// a dimension; D is 32, like the warp.
extern "C" __global__ void __launch_bounds__(128)
    flash_warp(const float *q, const float *k, const float *v, float *o, int n, float scale,
               int causal) {
    __shared__ float qs[4][D], ks[32][D + 1], vs[32][D];
    int lane = threadIdx.x, warp = threadIdx.y, row = blockIdx.x * 4 + warp;
    size_t head = (size_t)blockIdx.y * n * D;
    qs[warp][lane] = row < n ? q[head + row * D + lane] : 0.f;
    float out = 0, largest = -INFINITY, total = 0;
    int keys = causal ? min(n, blockIdx.x * 4 + 4) : n; // that any of the block's rows sees
    for (int from = 0; from < keys; from += 32) {
        for (int j = warp; j < 32; j += 4) {
            bool inside = from + j < n;
            ks[j][lane] = inside ? k[head + (from + j) * D + lane] : 0.f;
            vs[j][lane] = inside ? v[head + (from + j) * D + lane] : 0.f;
        }
        __syncthreads();
        float score = 0;
        for (int d = 0; d < D; d++) score += qs[warp][d] * ks[lane][d];
        bool seen = from + lane < n && (!causal || from + lane <= row);
        score = seen ? score * scale : -INFINITY;
        float now = score;
        for (int d = 16; d > 0; d /= 2) now = fmaxf(now, __shfl_xor_sync(~0u, now, d));
        now = fmaxf(now, largest);
        float keep = __expf(largest - now), p = __expf(score - now), sum = p;
        if (now == -INFINITY) keep = 1, p = sum = 0;
        for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
        total = total * keep + sum;
        out *= keep;
        for (int j = 0; j < 32; j++) out += __shfl_sync(~0u, p, j) * vs[j][lane];
        largest = now;
        __syncthreads();
    }
    if (row < n) o[head + row * D + lane] = out / total;
}

// flash_tile: 16 queries by 16 keys, a thread a score; then the same thread sums
// two columns of the output. The row's 16 threads share half a warp.
extern "C" __global__ void __launch_bounds__(256)
    flash_tile(const float *q, const float *k, const float *v, float *o, int n, float scale,
               int causal) {
    __shared__ float qs[16][D + 1], ks[16][D + 1], vs[16][D + 1], ps[16][16];
    int tx = threadIdx.x, ty = threadIdx.y, t = ty * 16 + tx;
    int top = blockIdx.x * 16, row = top + ty;
    size_t head = (size_t)blockIdx.y * n * D;
    for (int i = t; i < 16 * D; i += 256)
        qs[i / D][i % D] = top + i / D < n ? q[head + top * D + i] * scale : 0.f;
    __syncthreads(); // spare: the first barrier of the loop would do for the queries, too
    float out[D / 16] = {}, largest = -INFINITY, total = 0;
    int end = causal ? min(n, top + 16) : n;
    for (int from = 0; from < end; from += 16) {
        for (int i = t; i < 16 * D; i += 256) {
            bool inside = from + i / D < n;
            ks[i / D][i % D] = inside ? k[head + from * D + i] : 0.f;
            vs[i / D][i % D] = inside ? v[head + from * D + i] : 0.f;
        }
        __syncthreads();
        float score = 0;
#pragma unroll
        for (int d = 0; d < D; d++) score += qs[ty][d] * ks[tx][d];
        if (from + tx >= n || (causal && from + tx > row)) score = -INFINITY;
        float now = score;
#pragma unroll
        for (int d = 8; d > 0; d >>= 1) now = fmaxf(now, __shfl_xor_sync(~0u, now, d, 16));
        now = fmaxf(now, largest);
        float p = __expf(score - now), keep = __expf(largest - now), sum = p;
#pragma unroll
        for (int d = 8; d > 0; d >>= 1) sum += __shfl_xor_sync(~0u, sum, d, 16);
        total = total * keep + sum;
        largest = now;
        ps[ty][tx] = p;
        __syncwarp();
        for (int c = 0; c < D / 16; c++) {
            out[c] *= keep;
            for (int j = 0; j < 16; j++) out[c] += ps[ty][j] * vs[j][c * 16 + tx];
        }
        __syncthreads();
    }
    if (row < n)
        for (int c = 0; c < D / 16; c++) o[head + row * D + c * 16 + tx] = out[c] / total;
}
