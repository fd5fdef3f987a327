// What the rungs share whose keys are read by groups of LANES neighbouring threads: a lane has four
// numbers of a row.

#include "parts.cuh"

// The four numbers of a row that are this lane's, zeros beyond dim. They are neighbours
// if rows start at multiples of 16 bytes (wide), else LANES apart: either way
// neighbouring lanes read neighbouring numbers.
template <int LANES> __device__ float4 load(const float *row, int lane, int dim, int wide) {
    float4 value = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if (wide) {
        if (4 * lane < dim) value = *(const float4 *)(row + 4 * lane);
        return value;
    }
    if (lane < dim) value.x = row[lane];
    if (lane + LANES < dim) value.y = row[lane + LANES];
    if (lane + 2 * LANES < dim) value.z = row[lane + 2 * LANES];
    if (lane + 3 * LANES < dim) value.w = row[lane + 3 * LANES];
    return value;
}

// The same numbers, written to a row of 4 * LANES.
template <int LANES> __device__ void store(float *row, int lane, int wide, float4 value) {
    if (wide) {
        *(float4 *)(row + 4 * lane) = value;
        return;
    }
    row[lane] = value.x;
    row[lane + LANES] = value.y;
    row[lane + 2 * LANES] = value.z;
    row[lane + 3 * LANES] = value.w;
}

__device__ void scale(float4 &sum, float by) {
    sum.x *= by, sum.y *= by, sum.z *= by, sum.w *= by;
}

__device__ void add(float4 &sum, float p, float4 v) {
    sum.x += p * v.x, sum.y += p * v.y, sum.z += p * v.z, sum.w += p * v.w;
}

// The sum over a group's lanes, for each of them. Distances below LANES stay within it.
template <int LANES> __device__ float groupSum(float value) {
#pragma unroll
    for (int lanes = LANES / 2; lanes > 0; lanes /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, lanes);
    return value;
}

// Before the first key x = m = -INFINITY: x - m would be NaN, exp2f(x - base(m)) is 0.
__device__ float base(float largest) {
    return largest == -INFINITY ? 0.0f : largest;
}

// Merges number x of what the groups of a block have found of a head, each rescaled to the largest
// score of all, and writes it.
template <int GROUPS, int WIDTH>
__device__ void merge(const float (&accOf)[GROUPS][WIDTH], const float (&largestOf)[GROUPS],
                      const float (&sumOf)[GROUPS], float *to, size_t head, int x, int dim) {
    float most = -INFINITY;
    for (int g = 0; g < GROUPS; g++) most = fmaxf(most, largestOf[g]);
    float weights = 0.0f, weighted = 0.0f;
    for (int g = 0; g < GROUPS; g++) {
        const float rescale = exp2f(largestOf[g] - base(most));
        weights += rescale * sumOf[g];
        weighted += rescale * accOf[g][x];
    }
    leave(to, head, x, dim, weighted, most, weights);
}

// Every group of a block leaves what it has found of the block's head in shared memory; then they
// are merged.
template <int LANES, int GROUPS>
__device__ void finish(float4 acc, float largest, float sum, float *to, int dim, int wide) {
    const int lane = threadIdx.x % LANES, group = threadIdx.x / LANES, x = threadIdx.x;
    __shared__ __align__(16) float accOf[GROUPS][4 * LANES];
    __shared__ float largestOf[GROUPS], sumOf[GROUPS];
    store<LANES>(accOf[group], lane, wide, acc);
    if (lane == 0) largestOf[group] = largest, sumOf[group] = sum;
    __syncthreads(); // all results are there
    if (x < dim) merge(accOf, largestOf, sumOf, to, blockIdx.x, x, dim);
}

// Writes the keys and values of count new tokens, k and v [batch, count, width], to
// the slots from at[sequence] on, where they lie in one piece as well. A thread moves
// one number of each, or four (wide). blockIdx.y is the sequence.
extern "C" __global__ void update(const float *k, const float *v, const int *at, float *cacheK,
                                  float *cacheV, int count, int slots, int width, int wide) {
    const int sequence = blockIdx.y;
    const int n = count * width;
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) * (wide ? 4 : 1);
    const int slot = at[sequence];
    // The host has checked its own copy; a recorded launch is replayed without that.
    if (i >= n || slot < 0 || slot > slots - count) return;
    const size_t from = (size_t)sequence * n + i;
    const size_t to = ((size_t)sequence * slots + slot) * width + i;
    if (wide) {
        *(float4 *)(cacheK + to) = *(const float4 *)(k + from);
        *(float4 *)(cacheV + to) = *(const float4 *)(v + from);
    } else {
        cacheK[to] = k[from];
        cacheV[to] = v[from];
    }
}
