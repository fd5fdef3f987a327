package decode

// What kernels.cu has: threads of a block, whether they read four numbers at a time, and kernels, with the
// head dimension and the query heads of a block, at most.
const (
	threads = 256
	fours   = true
)

var decoders = []sized{{name: "decode_16", dim: 64, heads: 1}, {name: "decode_32", dim: 128, heads: 1}}
