// Sums and maxima, from a tree in shared memory to the last block that finishes.

__device__ float warp_sum(float v) {
    for (int d = 16; d > 0; d >>= 1) v += __shfl_down_sync(0xffffffffu, v, d);
    return v;
}

// sum_tree: one sum a block, by a tree in shared memory.
extern "C" __global__ void __launch_bounds__(256) sum_tree(const float *x, float *sums, int n) {
    __shared__ float part[256];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    part[t] = i < n ? x[i] : 0.f;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half >>= 1) {
        if (t < half) part[t] += part[t + half];
        __syncthreads();
    }
    if (t == 0) sums[blockIdx.x] = part[0];
}

// sum_unrolled: the tree's last six steps stay in one warp, which needs no
// barrier of the block.
extern "C" __global__ void __launch_bounds__(256) sum_unrolled(const float *x, float *sums, int n) {
    __shared__ float part[256];
    int t = threadIdx.x, i = blockIdx.x * 512 + t;
    part[t] = (i < n ? x[i] : 0.f) + (i + 256 < n ? x[i + 256] : 0.f);
    __syncthreads();
    if (t < 128) part[t] += part[t + 128];
    __syncthreads();
    if (t < 64) part[t] += part[t + 64];
    __syncthreads();
    if (t < 32) {
        float v = part[t] + part[t + 32];
#pragma unroll
        for (int d = 16; d > 0; d >>= 1) {
            part[t] = v;
            __syncwarp();
            v += part[(t + d) & 31];
            __syncwarp();
        }
        if (t == 0) sums[blockIdx.x] = v;
    }
}

// sum_shuffle: a grid-stride loop, then shuffles; only the warps' sums go
// through shared memory. Launched a second time on the blocks' sums, it makes
// the two-pass reduction.
extern "C" __global__ void sum_shuffle(const float *x, float *sums, int n) {
    __shared__ float warps[32];
    int lane = threadIdx.x % warpSize, warp = threadIdx.x / warpSize;
    float v = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        v += x[i];
    v = warp_sum(v);
    if (lane == 0) warps[warp] = v;
    __syncthreads();
    if (warp == 0) {
        v = lane < blockDim.x / warpSize ? warps[lane] : 0.f;
        v = warp_sum(v);
        if (lane == 0) sums[blockIdx.x] = v;
    }
}

// sum_atomic: every warp adds its sum to the total.
extern "C" __global__ void sum_atomic(const float *__restrict__ x, float *total, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = warp_sum(i < n ? __ldg(x + i) : 0.f);
    if ((threadIdx.x & 31) == 0) atomicAdd(total, v);
}

// sum_last_block: the block that finishes last adds up what the others left.
extern "C" __global__ void __launch_bounds__(128)
    sum_last_block(const float *x, float *parts, unsigned int *finished, float *total, int n) {
    __shared__ float warps[4];
    __shared__ bool last;
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    float v = warp_sum(i < n ? x[i] : 0.f);
    if (t % 32 == 0) warps[t / 32] = v;
    __syncthreads();
    if (t == 0) {
        parts[blockIdx.x] = warps[0] + warps[1] + warps[2] + warps[3];
        __threadfence();
        last = atomicAdd(finished, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && t == 0) {
        __threadfence();
        float sum = 0;
        for (unsigned int b = 0; b < gridDim.x; b++) sum += parts[b];
        *total = sum;
    }
}

// dot_vec4: four numbers a load, and the odd ones at the end one by one.
extern "C" __global__ void dot_vec4(const float *a, const float *b, float *dot, int n) {
    const float4 *a4 = reinterpret_cast<const float4 *>(a);
    const float4 *b4 = reinterpret_cast<const float4 *>(b);
    int first = blockIdx.x * blockDim.x + threadIdx.x, step = gridDim.x * blockDim.x;
    float sum = 0;
    for (int i = first; i < n / 4; i += step) {
        float4 u = a4[i], v = b4[i];
        sum += u.x * v.x + u.y * v.y + u.z * v.z + u.w * v.w;
    }
    for (int i = n / 4 * 4 + first; i < n; i += step) sum += a[i] * b[i];
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0) atomicAdd(dot, sum);
}

// max_cas: a maximum of floats by compare-and-swap, for which there is no atomicMax.
extern "C" __global__ void max_cas(const float *x, float *largest, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int *bits = reinterpret_cast<int *>(largest);
    int seen = __float_as_int(-INFINITY);
    while (__int_as_float(seen) < x[i]) {
        int expected = seen;
        seen = atomicCAS(bits, expected, __float_as_int(x[i]));
        if (seen == expected) break;
    }
}

// argmax: one block; of equal values the first wins.
extern "C" __global__ void __launch_bounds__(128)
    argmax(const float *x, float *value, int *index, int n) {
    __shared__ float values[128];
    __shared__ int indices[128];
    int t = threadIdx.x, at = -1;
    float best = -INFINITY;
    for (int i = t; i < n; i += blockDim.x)
        if (x[i] > best || at < 0) best = x[i], at = i;
    values[t] = best, indices[t] = at;
    __syncthreads();
    for (int half = 64; half > 0; half /= 2) {
        if (t < half) {
            float v = values[t + half];
            int i = indices[t + half];
            if (i >= 0 && (v > values[t] || (v == values[t] && i < indices[t])))
                values[t] = v, indices[t] = i;
        }
        __syncthreads();
    }
    if (t == 0) *value = values[0], *index = indices[0];
}

// top1_rows: a warp a row, by shuffles alone.
extern "C" __global__ void top1_rows(const float *x, float *value, int *index, int rows, int cols) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return; // whole warps
    float best = -INFINITY;
    int at = cols;
    for (int c = lane; c < cols; c += 32)
        if (x[row * cols + c] > best) best = x[row * cols + c], at = c;
    for (int d = 16; d > 0; d /= 2) {
        float v = __shfl_xor_sync(~0u, best, d);
        int i = __shfl_xor_sync(~0u, at, d);
        if (v > best || (v == best && i < at)) best = v, at = i;
    }
    if (lane == 0) value[row] = best, index[row] = at;
}
