// Yours, if you have a use for it: a header that your kernels may include, for what they share, or
// to keep one of them short. The reference has the softmax of hopper.cu here. #include
// "softmax.cuh" takes it in, with DIM defined. Else leave it as it is.

#pragma once
