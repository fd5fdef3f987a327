// Room for a kernel for one row, y = x Wᵀ, by weights as they are: the case of writing a token. A
// kernel of kernels.cu serves as well, and then you may leave this file as it is.
//
// It is compiled by itself, from RowSource, and shares nothing with kernels.cu.
