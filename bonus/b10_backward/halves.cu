// The gradients of attention in halves, as kernels.cu makes them in float32: q, k, v, out, dOut,
// dq, dk and dv are float16 or bfloat16, lse is float32. Sums are float32.
//
// Tensor cores take P, dS and the tiles as halves. You may change all names and parameters,
// together with halves.go.

// Yours to write.
