package e2e

import (
	"flashlab/attn"
	"flashlab/device"
)

// Attention is the attention of one layer. It is given weights, kernels and a
// cache, and puts them together.
type Attention struct {
	shape       attn.LayerShape
	projections attn.Projections
	kernels     attn.Kernels
	cache       attn.Cache
}

var _ attn.NewLayer = New

// New makes the attention of one layer. KVHeads is Heads in this task. All
// memory that Forward needs is allocated here, with room for s.MaxRows rows.
// About 20 lines.
func New(q device.Queue, s attn.LayerShape, p attn.Projections, k attn.Kernels, c attn.Cache) (attn.Layer, error) {
	return &Attention{shape: s, projections: p, kernels: k, cache: c}, nil
}

// Forward writes the layer's output, out [Rows, hidden], for the tokens of one
// pass, x [Rows, hidden]. It must
//   - put the new tokens' keys and values into the cache, from slot s.Before on;
//   - use k.Prefill, with the causal mask, for a prompt of several tokens, and
//     k.Decode for one token that has others before it;
//   - write every element of out, and leave x unchanged;
//   - depend on s alone: nothing of an earlier sequence may affect the output;
//   - allocate and copy nothing: a decoding step is recorded as a graph, and a
//     graph can only contain launches. What changes from step to step is read
//     from device memory (s.Before.Device, s.After.Device).
//
// About 45 lines.
func (a *Attention) Forward(out, x device.Buffer[float32], s attn.Step) error {
	return attn.ErrNotImplemented
}
