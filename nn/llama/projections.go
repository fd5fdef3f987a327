package llama

import (
	"flashlab/attn"
	"flashlab/nn"
)

// Floats is what activations and weights are.
type Floats = nn.Floats

// Projections are the weights of one layer's attention: Q, K and V
// [Heads × Dim, Hidden], O [Hidden, Heads × Dim].
type Projections struct {
	Layers             *nn.Layers
	Hidden, Heads, Dim int
	Rotary             float32 // RoPE's base; 0 leaves q and k as they are
	Q, K, V, O         Floats
}

var _ attn.Projections = (*Projections)(nil)

// QKV computes q, k and v of x, and rotates q and k by their positions.
func (p *Projections) QKV(q, k, v, x Floats, s attn.Step) error {
	err := p.Layers.Linears(x, s.Rows(), p.Hidden, p.Heads*p.Dim,
		nn.Part{Out: q, W: p.Q}, nn.Part{Out: k, W: p.K}, nn.Part{Out: v, W: p.V})
	if err != nil || p.Rotary == 0 {
		return err
	}
	return p.Layers.RoPEs(q, k, s.Before.Device, s.Batch, s.Count, p.Heads, p.Dim, p.Rotary)
}

// Out computes the layer's output of the attention's.
func (p *Projections) Out(out, y Floats, s attn.Step) error {
	return p.Layers.Linear(out, y, p.O, Floats{}, s.Rows(), p.Heads*p.Dim, p.Hidden)
}
