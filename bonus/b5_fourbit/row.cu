// Room for a kernel for one row of x, [q | k | v] = x [Wq | Wk | Wv] + bias: the case of writing a
// token. Whatever serves more rows serves one as well, so you may leave this file as it is.
//
// It is compiled by itself, from RowSource, and shares nothing with kernels.cu.
