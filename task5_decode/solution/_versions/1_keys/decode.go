package decode

// What kernels.cu has: threads of a block, whether they read four numbers at a time, and kernels, with the
// head dimension and the query heads of a block, at most.
const (
	threads = 128
	fours   = false
)

var decoders = []sized{{name: "decode", dim: 128, heads: 1}}
