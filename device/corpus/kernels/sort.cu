// Bitonic sorting networks.

// bitonic_block: up to 512 numbers in shared memory, padded with the largest.
extern "C" __global__ void __launch_bounds__(256) bitonic_block(int *x, int n) {
    __shared__ int s[512];
    for (int i = threadIdx.x; i < 512; i += blockDim.x) s[i] = i < n ? x[i] : 0x7fffffff;
    for (int run = 2; run <= 512; run *= 2)
        for (int d = run / 2; d > 0; d /= 2) {
            __syncthreads();
            int i = 2 * threadIdx.x - (threadIdx.x & (d - 1));
            bool up = (i & run) == 0;
            int a = s[i], b = s[i + d];
            if ((a > b) == up) s[i] = b, s[i + d] = a;
        }
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) x[i] = s[i];
}

// bitonic_step: one column of a network as large as you like; n is a power of 2.
extern "C" __global__ void bitonic_step(unsigned int *x, int n, int run, int d) {
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x, j = i ^ d;
    if (i >= n || j <= i) return;
    bool up = (i & run) == 0;
    unsigned int a = x[i], b = x[j];
    if ((a > b) == up) {
        x[i] = b;
        x[j] = a;
    }
}
