package llama

import (
	"flashlab/attn"
	"flashlab/device"
	"flashlab/nn"
)

// F is what activations and weights are.
type F = device.Buffer[float32]

// Projections are the weights of one layer's attention: Q, K and V
// [Heads × Dim, Hidden], O [Hidden, Heads × Dim].
type Projections struct {
	Layers             *nn.Layers
	Hidden, Heads, Dim int
	Rotary             float32 // RoPE's base; 0 leaves q and k as they are
	Q, K, V, O         F
}

var _ attn.Projections = (*Projections)(nil)

// QKV computes q, k and v of x, and rotates q and k by their positions.
func (p *Projections) QKV(q, k, v, x F, s attn.Step) error {
	width := p.Heads * p.Dim
	for _, y := range []struct{ out, w F }{{q, p.Q}, {k, p.K}, {v, p.V}} {
		if err := p.Layers.Linear(y.out, x, y.w, F{}, s.Rows(), p.Hidden, width); err != nil {
			return err
		}
	}
	if p.Rotary == 0 {
		return nil
	}
	for _, y := range []F{q, k} {
		if err := p.Layers.RoPE(y, s.Before.Device, s.Batch, s.Count, p.Heads, p.Dim, p.Rotary); err != nil {
			return err
		}
	}
	return nil
}

// Out computes the layer's output of the attention's.
func (p *Projections) Out(out, y F, s attn.Step) error {
	return p.Layers.Linear(out, y, p.O, F{}, s.Rows(), p.Heads*p.Dim, p.Hidden)
}
