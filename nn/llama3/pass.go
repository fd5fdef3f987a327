package llama3

import (
	"fmt"

	"flashlab/attn"
	"flashlab/device"
	"flashlab/nn"
)

// pass takes the first count tokens through all layers, and returns what comes out, [count, Width], before the last norm.
func (m *Model) pass(count int) (nn.Floats, error) {
	c := m.config
	x, _ := m.x.Slice(0, count*c.Width) // count is at most Positions
	y, _ := m.y.Slice(0, count*c.Width)
	tokens, _ := m.tokens.Slice(0, count)
	if err := m.nn.Embed(x, tokens, m.weights[TokenTable], count, c.Width); err != nil {
		return x, err
	}
	step := attn.Step{Batch: 1, Count: count, Before: m.before, After: m.after}
	for i := range m.layers {
		if err := m.layer(i, x, y, step); err != nil {
			return x, fmt.Errorf("layer %d: %w", i, err)
		}
		if m.Progress != nil {
			m.Progress(i+1, len(m.layers))
		}
	}
	return x, nil
}

// layer adds the layer's attention, then its MLP, to x; y is for results in between.
func (m *Model) layer(i int, x, y nn.Floats, s attn.Step) error {
	c, rows := m.config, s.Rows()
	if err := m.nn.RMSNorm(y, x, m.weights[InLayer(i, Gain1)], rows, c.Width, float32(c.Epsilon)); err != nil {
		return err
	}
	added, _ := m.added.Slice(0, rows*c.Width)
	if err := m.layers[i].Forward(added, y, s); err != nil {
		return err
	}
	if err := m.nn.AddRMSNorm(y, x, added, m.weights[InLayer(i, Gain2)], rows, c.Width, float32(c.Epsilon)); err != nil {
		return err
	}
	gate, _ := m.gate.Slice(0, rows*c.Inner)
	up, _ := m.up.Slice(0, rows*c.Inner)
	if err := m.gated(i, gate, up, y, rows); err != nil {
		return err
	}
	w, b := m.linear(i, Down)
	return m.nn.LinearAdd(x, gate, w, b, rows, c.Inner, c.Width)
}

// gated writes silu(gate) · up.
func (m *Model) gated(i int, gate, up, y nn.Floats, rows int) error {
	c := m.config
	gateW, gateB := m.linear(i, Gate)
	upW, upB := m.linear(i, Up)
	if !c.MLPBias {
		return m.nn.LinearSwiGLU(gate, up, y, gateW, upW, rows, c.Width, c.Inner)
	}
	if err := m.nn.Linears(y, rows, c.Width, c.Inner, nn.Part{Out: gate, W: gateW, Bias: gateB}, nn.Part{Out: up, W: upW, Bias: upB}); err != nil {
		return err
	}
	return m.nn.SwiGLU(gate, gate, up)
}

// linear is a layer's matrix, and its bias: the zero Buffer where the model has none.
func (m *Model) linear(layer int, name string) (w, bias nn.Floats) {
	return m.weights[InLayer(layer, name+Weight)], m.weights[InLayer(layer, name+Bias)]
}

// head turns the last token's row into logits, and the largest of them into the next step's token.
func (m *Model) head(row nn.Floats) error {
	c := m.config
	if err := m.nn.RMSNorm(m.last, row, m.weights[FinalGain], 1, c.Width, float32(c.Epsilon)); err != nil {
		return err
	}
	if err := m.nn.Linear(m.logits, m.last, m.weights[c.HeadTable()], nn.Floats{}, 1, c.Width, c.Vocabulary); err != nil {
		return err
	}
	first, _ := m.tokens.Slice(0, 1)
	return m.nn.Argmax(first, m.logits, 1, c.Vocabulary)
}

// projections are the parts of one layer's attention that have weights.
type projections struct {
	m     *Model
	layer int
}

var _ attn.Projections = (*projections)(nil)

// QKV computes queries, keys and values, turns the first two, and repeats the last two for layers that want a key head for
// each query head.
func (p *projections) QKV(q, k, v, x device.Buffer[float32], s attn.Step) error {
	m, c, rows := p.m, p.m.config, s.Rows()
	own, values := k, v
	if m.repeats() {
		own, _ = m.k.Slice(0, rows*c.KVHeads*c.Dim)
		values, _ = m.v.Slice(0, rows*c.KVHeads*c.Dim)
	}
	qW, qB := m.linear(p.layer, Q)
	kW, kB := m.linear(p.layer, K)
	vW, vB := m.linear(p.layer, V)
	if err := m.nn.Linear(q, x, qW, qB, rows, c.Width, c.Heads*c.Dim); err != nil {
		return err
	}
	if err := m.nn.Linears(x, rows, c.Width, c.KVHeads*c.Dim, nn.Part{Out: own, W: kW, Bias: kB}, nn.Part{Out: values, W: vW, Bias: vB}); err != nil {
		return err
	}
	r := nn.Rotation{Heads: c.Heads, KVHeads: c.KVHeads, Dim: c.Dim, Turns: m.turns}
	if err := m.nn.Rotate(q, own, s.Before.Device, s.Batch, s.Count, r); err != nil || !m.repeats() {
		return err
	}
	if err := m.nn.RepeatHeads(k, own, rows, c.Heads, c.KVHeads, c.Dim); err != nil {
		return err
	}
	return m.nn.RepeatHeads(v, values, rows, c.Heads, c.KVHeads, c.Dim)
}

// Out is the projection behind the attention.
func (p *projections) Out(out, y device.Buffer[float32], s attn.Step) error {
	c := p.m.config
	w, b := p.m.linear(p.layer, O)
	return p.m.nn.Linear(out, y, w, b, s.Rows(), c.Heads*c.Dim, c.Width)
}
