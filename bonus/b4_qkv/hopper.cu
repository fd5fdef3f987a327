// Yours, for honours: the product and its epilogue for Hopper, whose copy engine brings tiles and
// whose tensor cores read them from shared memory (hopper.h). New compiles it in place of project
// in kernels.cu where q.Info().Arch is "sm_90". Else leave it as it is.
