// Rotary positions in a kernel of their own: y = rot(x), both [batch, heads, seq, dim], with dim a
// multiple of 8. Token i of sequence b has position i, and of queries start[b] + i. Pair j of a row
// is turned by the angle position * base^(-2 j / dim).
//
// A thread has columns x ... x + 3 and dim / 2 + x ... dim / 2 + x + 3 of one token: four pairs,
// whichever of the two pairings it is. Their angles serve HEADS heads; blockIdx.y says which.

extern "C" __global__ void rotate(const float *x, float *y, const int *start, int queries,
                                  int batch, int heads, int seq, int dim, int neighbours,
                                  double log2Base) {
    const int half = dim / 2, chunks = dim / 8;
    const size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= (size_t)batch * seq * chunks) return;
    const int column = at % chunks * 4, i = at / chunks % seq;
    const size_t b = at / chunks / seq;
    const double position = i + (queries ? start[b] : 0);

    // The angles in turns, in double; whole turns do not count.
    float cosine[4], sine[4];
    for (int n = 0; n < 4; n++) {
        const int pair = neighbours ? ((n < 2 ? 0 : half) + column) / 2 + n % 2 : column + n;
        const double turns = position * exp2(-2.0 * pair / dim * log2Base) * 0.15915494309189535;
        sincospif((float)(2.0 * (turns - rint(turns))), &sine[n], &cosine[n]);
    }

    const int head0 = blockIdx.y * HEADS;
    for (int head = head0; head < min(head0 + HEADS, heads); head++) {
        const size_t row = ((b * heads + head) * seq + i) * dim + column;
        const float4 u = *(const float4 *)(x + row), v = *(const float4 *)(x + row + half);
        float first[4] = {u.x, u.y, u.z, u.w}, second[4] = {v.x, v.y, v.z, v.w};
        if (neighbours) {
            first[1] = u.z, first[2] = v.x, first[3] = v.z;
            second[0] = u.y, second[1] = u.w, second[2] = v.y;
        }
        for (int n = 0; n < 4; n++) {
            const float a = first[n], c = second[n];
            first[n] = a * cosine[n] - c * sine[n];
            second[n] = c * cosine[n] + a * sine[n];
        }
        float4 *to = (float4 *)(y + row), *toSecond = (float4 *)(y + row + half);
        if (neighbours) {
            *to = make_float4(first[0], second[0], first[1], second[1]);
            *toSecond = make_float4(first[2], second[2], first[3], second[3]);
        } else {
            *to = make_float4(first[0], first[1], first[2], first[3]);
            *toSecond = make_float4(second[0], second[1], second[2], second[3]);
        }
    }
}
