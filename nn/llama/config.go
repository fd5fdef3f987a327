// Package llama is a Llama-like model: embedding, then layers of attention and
// SwiGLU with LayerNorm and residuals, a last LayerNorm and an untied head. Its
// weights are random. How attention is done is for others to say: a model is
// made with an attn.NewLayer and attn.Kernels.
package llama

import "fmt"

// Config is the size of a model.
type Config struct {
	Hidden     int // width of a token's activations: Heads × Dim
	Heads      int // of queries, and as many of keys and values
	Layers     int
	Vocabulary int
	MLP        int // width of the SwiGLU's inner layer
	MaxSeq     int // slots of the cache: prompt and answer
	Prompt     int // the longest prompt: what to have room for
	Batch      int // sequences, which step together
}

// Constants of the model.
const (
	Epsilon = 1e-5  // of LayerNorm, added to the variance
	Base    = 10000 // of RoPE
)

func (c Config) String() string {
	return fmt.Sprintf("hidden %d, heads %d × %d, layers %d, MLP %d, vocabulary %d, batch %d, prompt %d, cache %d",
		c.Hidden, c.Heads, c.Dim(), c.Layers, c.MLP, c.Vocabulary, c.Batch, c.Prompt, c.MaxSeq)
}

// Dim is the width of one head.
func (c Config) Dim() int { return c.Hidden / max(c.Heads, 1) }

// Check tells what is wrong with a size.
func (c Config) Check() error {
	switch {
	case min(c.Hidden, c.Heads, c.Layers, c.Vocabulary, c.MLP, c.MaxSeq, c.Prompt, c.Batch) < 1:
		return fmt.Errorf("a model of %v: every size must be at least 1", c)
	case c.Hidden%(2*c.Heads) != 0:
		return fmt.Errorf("a model of %v: hidden must be a multiple of 2 × heads, for RoPE turns pairs of numbers of a head", c)
	case c.Prompt > c.MaxSeq:
		return fmt.Errorf("a model of %v: the cache has no room for the longest prompt", c)
	}
	return nil
}

// scratch is how many activations of the width Hidden a layer of attention is
// thought to need: q, k and v, and the same by heads.
const scratch = 6

// Bytes estimates what a model takes on the device: weights, cache, and room
// for activations.
func (c Config) Bytes() (weights, cache, activations int64) {
	for _, w := range c.Weights() {
		weights += 4 * int64(w.Rows) * int64(w.Columns)
	}
	rows := int64(c.Batch) * int64(c.Prompt)
	cache = 8 * int64(c.Layers) * int64(c.Batch) * int64(c.MaxSeq) * int64(c.Hidden)
	activations = 4 * rows * (int64(scratch*c.Layers*c.Hidden) + int64(3*c.Hidden+2*c.MLP))
	activations += 4 * (rows*int64(max(c.MLP, c.Hidden)) + int64(c.Hidden)*int64(max(3*c.Hidden, 2*c.MLP))) // nn's halves
	return weights, cache, activations
}
