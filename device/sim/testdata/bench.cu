// The kernels that device/sim/README.md times.
#define TILE 16
extern "C" __global__ void sgemm(const float *a, const float *b, float *c, int n) {
    __shared__ float as[TILE][TILE], bs[TILE][TILE];
    int ty = threadIdx.y, tx = threadIdx.x;
    int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
    float sum = 0;
    for (int t = 0; t < n; t += TILE) {
        as[ty][tx] = a[row * n + t + tx];
        bs[ty][tx] = b[(t + ty) * n + col];
        __syncthreads();
        for (int k = 0; k < TILE; k++) sum += as[ty][k] * bs[k][tx];
        __syncthreads();
    }
    c[row * n + col] = sum;
}

// One thread a query, 64 queries a block, keys in tiles of 32; head dimension 64.
#define DIM 64
#define KEYS 32
extern "C" __global__ void flash(const float *q, const float *k, const float *v, float *o, int n,
                                 float scale) {
    __shared__ float ks[KEYS][DIM], vs[KEYS][DIM];
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float query[DIM], out[DIM], largest = -INFINITY, total = 0;
    for (int i = 0; i < DIM; i++) query[i] = q[row * DIM + i] * scale, out[i] = 0;
    for (int from = 0; from < n; from += KEYS) {
        for (int i = threadIdx.x; i < KEYS * DIM; i += blockDim.x) {
            ks[i / DIM][i % DIM] = k[from * DIM + i];
            vs[i / DIM][i % DIM] = v[from * DIM + i];
        }
        __syncthreads();
        float score[KEYS], now = largest;
        for (int j = 0; j < KEYS; j++) {
            float sum = 0;
            for (int i = 0; i < DIM; i++) sum += query[i] * ks[j][i];
            score[j] = sum;
            now = fmaxf(now, sum);
        }
        float keep = expf(largest - now);
        total *= keep;
        for (int i = 0; i < DIM; i++) out[i] *= keep;
        for (int j = 0; j < KEYS; j++) {
            float p = expf(score[j] - now);
            total += p;
            for (int i = 0; i < DIM; i++) out[i] += p * vs[j][i];
        }
        largest = now;
        __syncthreads();
    }
    for (int i = 0; i < DIM; i++) o[row * DIM + i] = out[i] / total;
}

extern "C" __global__ void barriers(int n) {
    for (int i = 0; i < n; i++) __syncthreads();
}

// Each thread reads its neighbours' elements and writes its own: races throughout
// with apart = 1, none with apart = 0.
extern "C" __global__ void exchange(int rounds, int apart) {
    __shared__ float line[256];
    int t = threadIdx.x, n = blockDim.x;
    line[t] = t;
    __syncthreads();
    for (int i = 0; i < rounds; i++) line[t] = line[(t + apart) % n] + line[(t + n - apart) % n];
}

// SGEMM with tiles of registers: each of a block's 64 threads has 8×8 sums. The loops are a
// compiler's to unroll. Without Options.Unroll the sums are an array in the thread's local memory.
#define SIDE 64
#define DEPTH 16
#define EACH 8
__device__ void multiply(const float *as, const float *bs, float *left, float *right, float *sums) {
    for (int k = 0; k < DEPTH; k++) {
        for (int i = 0; i < EACH; i++) left[i] = as[k * SIDE + threadIdx.y * EACH + i];
        for (int i = 0; i < EACH; i++) right[i] = bs[k * SIDE + threadIdx.x * EACH + i];
        for (int i = 0; i < EACH; i++)
            for (int j = 0; j < EACH; j++) sums[i * EACH + j] += left[i] * right[j];
    }
}

extern "C" __global__ void registers(const float *a, const float *b, float *c, int n) {
    __shared__ float as[DEPTH * SIDE], bs[DEPTH * SIDE];
    int row = blockIdx.y * SIDE, col = blockIdx.x * SIDE, thread = threadIdx.y * EACH + threadIdx.x;
    float left[EACH], right[EACH], sums[EACH * EACH] = {0};
    for (int from = 0; from < n; from += DEPTH) {
        for (int k = 0; k < DEPTH; k++) {
            as[k * SIDE + thread] = a[(row + thread) * n + from + k];
            bs[k * SIDE + thread] = b[(from + k) * n + col + thread];
        }
        __syncthreads();
        multiply(as, bs, left, right, sums);
        __syncthreads();
    }
    for (int i = 0; i < EACH; i++)
        for (int j = 0; j < EACH; j++)
            c[(row + threadIdx.y * EACH + i) * n + col + threadIdx.x * EACH + j] =
                sums[i * EACH + j];
}
