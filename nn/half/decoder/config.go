// Package decoder is a Llama in halves, put together from parts: how weights are multiplied and how
// attention keeps and reads its cache are for others to say. So the same model runs with weights in
// halves or in four bits, and with one cache or another.
package decoder

import (
	"errors"
	"fmt"
	"math"

	"flashlab/device"
	"flashlab/nn/half"
	"flashlab/nn/llama3"
)

// Halves is what activations are.
type Halves = half.Halves

// Config is the shape of a model.
type Config struct {
	half.Heads
	Hidden, Layers, MLP, Vocabulary int
	Epsilon                         float32   // of RMSNorm
	Frequencies                     []float64 // of RoPE, radians a position, for each pair of a head: [Dim / 2]
}

// Of is the shape of a Llama of Hugging Face's.
func Of(c llama3.Config) (Config, error) {
	if c.AttentionBias || c.MLPBias {
		return Config{}, errors.New("this Llama's matrices have biases, which the model in halves lacks")
	}
	d := Config{Heads: half.Heads{Heads: c.Heads, KVHeads: c.KVHeads, Dim: c.Dim}, Hidden: c.Width, Layers: c.Layers, MLP: c.Inner,
		Vocabulary: c.Vocabulary, Epsilon: float32(c.Epsilon), Frequencies: c.Frequencies()}
	return d, d.Check()
}

func (c Config) String() string {
	return fmt.Sprintf("hidden %d, %d layers, %v, MLP %d, vocabulary %d", c.Hidden, c.Layers, c.Heads, c.MLP, c.Vocabulary)
}

// Check tells what is wrong with a shape.
func (c Config) Check() error {
	if err := c.Heads.Check(); err != nil {
		return err
	}
	switch {
	case min(c.Hidden, c.Layers, c.MLP, c.Vocabulary) < 1:
		return fmt.Errorf("a model of %v: every size must be at least 1", c)
	case c.Hidden%8 != 0 || c.MLP%8 != 0:
		return fmt.Errorf("a model of %v: hidden and MLP must be multiples of 8, so that rows start at multiples of 16 bytes", c)
	case len(c.Frequencies) != c.Dim/2:
		return fmt.Errorf("a model of %v has %d frequencies, want one for each of %d pairs", c, len(c.Frequencies), c.Dim/2)
	}
	return nil
}

// Room is what a model has room for.
type Room struct {
	Batch int // sequences, which step together
	Slots int // tokens of each, of the prompt and those that follow
	Rows  int // tokens that pass at a time: a prompt's sequences pass a few at a time
}

// Check tells what is wrong with it.
func (r Room) Check() error {
	if min(r.Batch, r.Slots, r.Rows) < 1 || r.Rows < r.Batch {
		return fmt.Errorf("room for %d sequences of %d tokens, %d at a time: want at least 1 of each, and at least a token of each sequence at a time", r.Batch, r.Slots, r.Rows)
	}
	return nil
}

// Matrix is a weight matrix [outputs, inputs], kept in whichever way.
type Matrix interface {
	// Times writes y [rows, outputs] = x [rows, inputs] · its transpose.
	Times(y, x Halves, rows int) error
}

// Gated is a Matrix of a gate's lines and as many others, which may multiply and gate at once.
type Gated interface {
	Matrix
	// Gated writes out [rows, outputs / 2] = silu(gate) · the others' product. both is room for what Times writes.
	Gated(out, both, x Halves, rows int) error
}

// Attention is that of all layers, with their caches.
type Attention interface {
	// Attend takes the queries, keys and values of new tokens, qkv [Batch × Count, (Heads + 2 KVHeads) × Dim], not yet
	// rotated. It keeps the keys and values and writes out [Batch × Count, Heads × Dim]. It allocates nothing, for
	// decoding steps are recorded.
	Attend(layer int, out, qkv Halves, s Step) error
}

// Block is the weights of one layer.
type Block struct {
	Norm1, Norm2 Halves // [Hidden]
	QKV          Matrix // queries', keys' and values' together, [(Heads + 2 KVHeads) × Dim, Hidden]
	Out          Matrix // [Hidden, Heads × Dim]
	GateUp       Matrix // the gate's, then up's, [2 × MLP, Hidden]
	Down         Matrix // [Hidden, MLP]
}

// Weights are those of a model.
type Weights struct {
	Embedding Halves // [Vocabulary, Hidden]
	Blocks    []Block
	Norm      Halves // [Hidden]
	Head      Halves // [Vocabulary, Hidden]: the same as Embedding where they are tied
}

// Dense is a Matrix in halves.
type Dense struct {
	Layers          *half.Layers
	W               Halves // [Outputs, Inputs]
	Inputs, Outputs int
}

// Times multiplies.
func (d Dense) Times(y, x Halves, rows int) error {
	return d.Layers.Linear(y, x, d.W, rows, d.Inputs, d.Outputs)
}

// Gated multiplies and gates.
func (d Dense) Gated(out, both, x Halves, rows int) error {
	return d.Layers.Gated(out, both, x, d.W, rows, d.Inputs, d.Outputs/2)
}

// turns are frequencies in whole turns.
func (c Config) turns(q device.Queue) (device.Buffer[float64], error) {
	var all []float64
	for _, f := range c.Frequencies {
		all = append(all, f/(2*math.Pi))
	}
	return device.Upload(q, "turns", all)
}
