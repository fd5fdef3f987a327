// What a model thinks of a text: sums[row] += log of the sum of exp(logits[row]) - the target's
// logit. A block has a row of logits [rows, width]. A target that is not in the row gives NaN.

constexpr int THREADS = 256;
constexpr unsigned EVERYONE = 0xffffffff;

extern "C" __global__ void __launch_bounds__(THREADS)
    losses(double *sums, const float *logits, const int *targets, int width) {
    __shared__ float largests[THREADS / 32], weights[THREADS / 32];
    const float *row = logits + (size_t)blockIdx.x * width;
    float largest = -INFINITY, sum = 0;
    for (int i = threadIdx.x; i < width; i += THREADS) {
        const float most = fmaxf(largest, row[i]);
        if (most != -INFINITY) sum = sum * expf(largest - most) + expf(row[i] - most);
        largest = most;
    }
    for (int lanes = 16; lanes > 0; lanes /= 2) {
        const float other = __shfl_xor_sync(EVERYONE, largest, lanes);
        const float theirs = __shfl_xor_sync(EVERYONE, sum, lanes);
        const float most = fmaxf(largest, other);
        if (most != -INFINITY) sum = sum * expf(largest - most) + theirs * expf(other - most);
        largest = most;
    }
    if (threadIdx.x % 32 == 0)
        largests[threadIdx.x / 32] = largest, weights[threadIdx.x / 32] = sum;
    __syncthreads(); // each warp's share is there
    if (threadIdx.x > 0) return;
    for (int w = 1; w < THREADS / 32; w++) largest = fmaxf(largest, largests[w]);
    double all = 0;
    for (int w = 0; w < THREADS / 32; w++) all += weights[w] * exp((double)largests[w] - largest);
    const int target = targets[blockIdx.x];
    const double logit = 0 <= target && target < width ? row[target] : NAN;
    sums[blockIdx.x] += largest + log(all) - logit;
}
