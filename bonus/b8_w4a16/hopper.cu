// Yours, for honours: a kernel for Hopper and up to 64 rows, whose tensor cores read x from shared
// memory (wgmma, in hopper.h). Rows may take it in place of kernels.cu where q.Info().Arch is
// "sm_90". Else leave it as it is.
