// Prefix sums.

// scan_hillis_steele: inclusive, one block; two copies, so that one barrier a
// step will do.
extern "C" __global__ void scan_hillis_steele(const int *x, int *sums, int n) {
    extern __shared__ int both[];
    int t = threadIdx.x, from = 0, to = blockDim.x;
    both[t] = t < n ? x[t] : 0;
    __syncthreads();
    for (int d = 1; d < blockDim.x; d *= 2) {
        int v = both[from + t];
        if (t >= d) v += both[from + t - d];
        both[to + t] = v;
        __syncthreads();
        int swap = from;
        from = to, to = swap;
    }
    if (t < n) sums[t] = both[from + t];
}

// scan_in_place: the same with one copy, and so with two barriers a step.
extern "C" __global__ void __launch_bounds__(256) scan_in_place(const int *x, int *sums, int n) {
    __shared__ int s[256];
    int t = threadIdx.x;
    s[t] = t < n ? x[t] : 0;
    __syncthreads();
    for (int d = 1; d < 256; d *= 2) {
        int left = t >= d ? s[t - d] : 0;
        __syncthreads();
        s[t] += left;
        __syncthreads();
    }
    if (t < n) sums[t] = s[t];
}

// scan_blelloch: exclusive, by a sweep up a tree and one down; every thread has
// two elements. The blocks' totals go to totals.
extern "C" __global__ void __launch_bounds__(128)
    scan_blelloch(const int *x, int *sums, int *totals, int n) {
    __shared__ int tree[256];
    int t = threadIdx.x, base = blockIdx.x * 256;
    tree[2 * t] = base + 2 * t < n ? x[base + 2 * t] : 0;
    tree[2 * t + 1] = base + 2 * t + 1 < n ? x[base + 2 * t + 1] : 0;
    int stride = 1;
    for (int pairs = 128; pairs > 0; pairs >>= 1) {
        __syncthreads();
        if (t < pairs) tree[stride * (2 * t + 2) - 1] += tree[stride * (2 * t + 1) - 1];
        stride *= 2;
    }
    if (t == 0) {
        totals[blockIdx.x] = tree[255];
        tree[255] = 0;
    }
    for (int pairs = 1; pairs <= 128; pairs *= 2) {
        stride >>= 1;
        __syncthreads();
        if (t < pairs) {
            int low = stride * (2 * t + 1) - 1, high = stride * (2 * t + 2) - 1;
            int v = tree[low];
            tree[low] = tree[high];
            tree[high] += v;
        }
    }
    __syncthreads(); // spare: the last step gave each thread the two that it writes
    if (base + 2 * t < n) sums[base + 2 * t] = tree[2 * t];
    if (base + 2 * t + 1 < n) sums[base + 2 * t + 1] = tree[2 * t + 1];
}

// add_totals: the last of three launches that scan many blocks.
extern "C" __global__ void add_totals(int *sums, const int *before, int n) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) sums[i] += before[blockIdx.x];
}

__device__ int warp_scan(int v) {
    int lane = threadIdx.x & 31;
#pragma unroll
    for (int d = 1; d < 32; d <<= 1) {
        int left = __shfl_up_sync(0xffffffffu, v, d);
        if (lane >= d) v += left;
    }
    return v;
}

// scan_warp: inclusive; each warp scans by shuffles, the first warp scans the
// warps' totals.
extern "C" __global__ void scan_warp(const int *x, int *sums, int n) {
    __shared__ int totals[32];
    int t = threadIdx.x, lane = t & 31, warp = t >> 5;
    int v = warp_scan(t < n ? x[t] : 0);
    if (lane == 31) totals[warp] = v;
    __syncthreads();
    if (warp == 0) totals[lane] = warp_scan(lane < blockDim.x / 32 ? totals[lane] : 0);
    __syncthreads();
    if (warp > 0) v += totals[warp - 1];
    if (t < n) sums[t] = v;
}

// compact: keeps the positive elements in their order; one block.
extern "C" __global__ void compact(const int *x, int *kept, int *count, int n) {
    __shared__ int totals[32];
    int t = threadIdx.x, lane = t & 31, warp = t >> 5;
    int mine = t < n ? x[t] : 0;
    unsigned int votes = __ballot_sync(~0u, mine > 0);
    if (lane == 0) totals[warp] = __popc(votes);
    int all = __syncthreads_count(mine > 0);
    int at = __popc(votes & ((1u << lane) - 1));
    for (int w = 0; w < warp; w++) at += totals[w];
    if (mine > 0) kept[at] = mine;
    if (t == 0) *count = all;
}
