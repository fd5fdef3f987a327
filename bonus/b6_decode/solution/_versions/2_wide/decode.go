package decode

// What kernels.cu has: query heads and warps of a block.
const (
	heads  = 1
	warps  = 4
	many   = 0 // blocks that share keys: none do
	shared = 0 // bytes of dynamic shared memory
)
