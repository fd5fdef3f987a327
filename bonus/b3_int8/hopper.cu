// Yours, for honours: attention by block for Hopper, whose copy engine brings tiles and whose
// tensor cores read codes from shared memory (hopper.h). New compiles it in place of attention.cu
// where q.Info().Arch is "sm_90". Else leave it as it is.
