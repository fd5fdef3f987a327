// A test's kernel that writes where nothing is.
extern "C" __global__ void astray(float *out) {
    out[(1L << 40) + threadIdx.x] = 1;
}
