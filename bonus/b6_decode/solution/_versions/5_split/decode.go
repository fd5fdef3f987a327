package decode

// What kernels.cu has: query heads and warps of a block.
const (
	heads  = 4
	warps  = 8
	many   = 132 // blocks that share keys, at most: one for each processor of a large GPU keeps its memory busy
	shared = 0   // bytes of dynamic shared memory
)
