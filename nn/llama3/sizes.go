package llama3

// Sizes are shapes that Llamas were published in.
var Sizes = map[string]Config{
	"1B":  published(2048, 32, 64, 16, 8192, 32, true),
	"3B":  published(3072, 24, 128, 28, 8192, 32, true),
	"8B":  published(4096, 32, 128, 32, 14336, 8, false),
	"70B": published(8192, 64, 128, 80, 28672, 8, false),
}

// published is a Llama 3.1 or 3.2.
func published(width, heads, dim, layers, inner int, factor float64, tied bool) Config {
	return Config{Width: width, Heads: heads, KVHeads: 8, Dim: dim, Layers: layers, Inner: inner, Positions: 131072, Vocabulary: 128256,
		Epsilon: 1e-5, Rotary: 500000, Scaling: &Scaling{Factor: factor, Low: 1, High: 4, Original: 8192}, Tied: tied,
		Begin: 128000, Ends: []int32{128001}}
}
