// Softmax of x [outer, len, inner] along the dimension len, written to y, which
// has the same shape and does not overlap x.
//
// The grid has one block for each of the outer * inner rows: block b handles row
// b = o * inner + j. Element i of row (o, j) lies at x[(o * len + i) * inner + j].
//
// Go launches this kernel by its name, so keep extern "C"; the parameters are
// yours to change together with attention.go.
extern "C" __global__ void softmax(const float *x, float *y, int len, int inner) {
    // Yours to write.
}
