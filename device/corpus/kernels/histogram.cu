// Counting bytes into 64 bins.
#define BINS 64

// histogram_global: an atomic on global memory for every element.
extern "C" __global__ void histogram_global(const unsigned char *x, unsigned int *bins, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&bins[x[i] % BINS], 1u);
}

// histogram_shared: counts of the block in shared memory first.
extern "C" __global__ void histogram_shared(const unsigned char *x, unsigned int *bins, int n) {
    __shared__ unsigned int mine[BINS];
    for (int b = threadIdx.x; b < BINS; b += blockDim.x) mine[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&mine[x[i] % BINS], 1u);
    __syncthreads();
    for (int b = threadIdx.x; b < BINS; b += blockDim.x)
        if (mine[b]) atomicAdd(&bins[b], mine[b]);
    __syncthreads(); // spare: nothing follows
}

// histogram_match: lanes with equal bins elect one that adds for all of them.
extern "C" __global__ void histogram_match(const unsigned char *x, unsigned int *bins, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int bin = i < n ? x[i] % BINS : -1;
    unsigned int same = __match_any_sync(0xffffffffu, bin);
    if (bin >= 0 && (int)(threadIdx.x & 31) == __ffs(same) - 1) atomicAdd(&bins[bin], __popc(same));
}
