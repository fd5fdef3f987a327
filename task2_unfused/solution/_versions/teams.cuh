// How the threads that share a row of softmax combine what they have.

#define EVERYONE 0xffffffffu

struct Larger {
    __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};
struct Plus {
    __device__ float operator()(float a, float b) const { return a + b; }
};

// Combines one value of each thread of a team: by shuffles in a warp, and through shared memory
// across the warps of larger teams. All threads of the block take part.
template <typename Combine>
__device__ float together(float value, int team, float *perWarp, Combine combine) {
    for (int lanes = 16; lanes > 0; lanes /= 2)
        value = combine(value, __shfl_xor_sync(EVERYONE, value, lanes));
    if (team == 32) return value;
    if (threadIdx.x % 32 == 0) perWarp[threadIdx.x / 32] = value;
    __syncthreads(); // every warp's value is in place before others read it
    const int firstWarp = threadIdx.x / team * team / 32;
    value = perWarp[firstWarp];
    for (int warp = 1; warp < team / 32; warp++) value = combine(value, perWarp[firstWarp + warp]);
    return value;
}

// Turns what the threads of a team have of a row into exponentials, and returns their sum.
template <int N> __device__ float exponentials(float (&part)[N], int team) {
    __shared__ float maxima[THREADS_SOFTMAX / 32], sums[THREADS_SOFTMAX / 32];
    // 1. The row's maximum.
    float largest = part[0];
#pragma unroll
    for (int k = 1; k < N; k++) largest = fmaxf(largest, part[k]);
    largest = together(largest, team, maxima, Larger());

    // 2. Exponentials, and their sum. With the maximum subtracted no exponent is above 0, so
    //    nothing overflows, and the largest term is exactly 1, so that the sum is never 0.
    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < N; k++) {
        part[k] = expf(part[k] - largest);
        sum += part[k];
    }
    return together(sum, team, sums, Plus());
}
