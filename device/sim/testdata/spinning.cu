// Each block takes what another one has left: the one before it has begun by then, the last one
// need not have.
extern "C" __global__ void waits_for_the_last_block(const float *x, float *parts, unsigned *flags,
                                                    float *y) {
    if (threadIdx.x != 0) return;
    int b = blockIdx.x;
    parts[b] = x[b];
    __threadfence();
    *(volatile unsigned *)&flags[b] = 1;
#ifdef BUG
    int other = gridDim.x - 1;
#else
    int other = b > 0 ? b - 1 : 0;
#endif
    while (*(volatile unsigned *)&flags[other] == 0) {
    }
    __threadfence();
    y[b] = parts[other];
}
