package attn

import (
	"flashlab/device"
)

// Step is what one pass of a model works on: Count new tokens of each of Batch
// sequences. A pass that decodes has one. Only a pass over a prompt has more. The
// prompt comes in one piece and before anything else, so every Before is then 0.
type Step struct {
	Batch, Count int
	// Before is how many tokens of each sequence came earlier: the position
	// of the first new one. After is Before + Count.
	Before, After PerSequence
}

// Rows is the number of tokens in a step: activations are [Rows, hidden], the
// tokens of one sequence together.
func (s Step) Rows() int { return s.Batch * s.Count }

// LayerShape is the attention of one layer.
type LayerShape struct {
	Heads int
	CacheShape
	MaxRows int // the largest Step.Rows to have room for
}

// Width of a token's query, and of its attention's result.
func (s LayerShape) Width() int { return s.Heads * s.Dim }

// Projections are the parts of an attention layer that have weights. They are
// given, and differ from model to model.
type Projections interface {
	// QKV computes queries, q [Rows, Heads × Dim], and keys and values,
	// k and v [Rows, KVHeads × Dim], from the layer's input x [Rows, hidden].
	// If the model rotates q and k by their positions, it does so here.
	QKV(q, k, v, x device.Buffer[float32], s Step) error
	// Out computes the layer's output, out [Rows, hidden], from y [Rows, Heads × Dim].
	Out(out, y device.Buffer[float32], s Step) error
}

// Rearranger turns rows of tokens, [Batch, Count, Heads × Dim], into one piece
// for each head, [Batch, Heads, Count, Dim], and back.
type Rearranger interface {
	SplitHeads(dst, src device.Buffer[float32], batch, count, heads, dim int) error
	MergeHeads(dst, src device.Buffer[float32], batch, count, heads, dim int) error
}

// Kernels are what an attention layer is built from. They are given, and are either
// the student's own from tasks 4 and 5 or plain ones.
type Kernels struct {
	Prefill Kernel
	Decode  Decoder
	Rearranger
}

// Layer is task 6: the attention of one layer of a model, with its cache.
type Layer interface {
	// Forward writes the attention's output, out [Rows, hidden], for the
	// tokens of one step, x [Rows, hidden]. It must not allocate: a decoding
	// step is recorded once and launched again and again.
	Forward(out, x device.Buffer[float32], s Step) error
}

// NewLayer makes the attention of one layer. p, k and c may belong to it alone or be
// shared, as the model likes. It allocates what Forward needs.
type NewLayer func(q device.Queue, s LayerShape, p Projections, k Kernels, c Cache) (Layer, error)
