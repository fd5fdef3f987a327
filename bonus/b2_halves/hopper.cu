// Yours, for honours: a kernel for Hopper, whose copy engine brings tiles and whose tensor cores
// read them from shared memory (hopper.h). New compiles it in place of kernels.cu where
// q.Info().Arch is "sm_90". Else leave it as it is.
