package decode

// What kernels.cu has: query heads and warps of a block, and turns of its ring.
const (
	heads  = 4
	warps  = 8
	many   = 132 // blocks that share keys, at most: one for each processor of a large GPU keeps its memory busy
	stages = 6
	shared = stages * 2 * 16 * 32 * warps // bytes of the ring: 16 for each thread, of a key and of a value
)
