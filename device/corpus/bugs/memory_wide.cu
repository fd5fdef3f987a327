// Wide loads out of bounds: the staging of a tile by float4s, where two branches and an inlined
// operator stand around the load. Without BUG each kernel is its twin, which is right.

template <bool GUARDED>
__device__ void stage(float *tile, int lines, const float *matrix, int rows, int dim, int wide) {
    for (int i = threadIdx.x; i < lines * (dim / 4); i += blockDim.x) {
        const int line = i / (dim / 4);
        const int x = i % (dim / 4) * 4;
        const float *from = matrix + line * dim + x;
        float4 value = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        if (!GUARDED || line < rows) {
            if (wide) {
                value = *(const float4 *)from; // want(stage_unguarded): out of bounds
            } else {
                value.x = from[0];
                value.y = from[1];
                value.z = from[2];
                value.w = from[3]; // want(stage_by_ones): out of bounds
            }
        }
        value.x *= 2.0f, value.y *= 2.0f, value.z *= 2.0f, value.w *= 2.0f;
        *(float4 *)(tile + line * dim + x) = value;
    }
}

// The last row of the tile does not exist.
extern "C" __global__ void stage_unguarded(const float *x, float *y, int rows) {
    __shared__ __align__(16) float tile[8 * 32];
#ifdef BUG
    stage<false>(tile, 8, x, rows, 32, 1);
#else
    stage<true>(tile, 8, x, rows, 32, 1);
#endif
    __syncthreads();
    y[threadIdx.x] = tile[threadIdx.x];
}

// The last float4 has only three floats.
extern "C" __global__ void stage_by_ones(const float *x, float *y, int rows) {
    __shared__ __align__(16) float tile[8 * 32];
#ifdef BUG
    stage<true>(tile, 8, x + 1, rows, 32, 0);
#else
    stage<true>(tile, 8, x, rows, 32, 0);
#endif
    __syncthreads();
    y[threadIdx.x] = tile[threadIdx.x];
}
