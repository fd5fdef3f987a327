package gpt2

import (
	"fmt"

	"flashlab/attn"
	"flashlab/device"
	"flashlab/nn"
)

// pass takes the first count tokens through all layers, and returns what comes
// out, [count, Width], before the last norm.
func (m *Model) pass(count int) (nn.Floats, error) {
	c := m.config
	x, _ := m.x.Slice(0, count*c.Width) // count is at most Positions
	y, _ := m.y.Slice(0, count*c.Width)
	tokens, _ := m.tokens.Slice(0, count)
	if err := m.nn.EmbedPositions(x, tokens, m.weights[TokenTable], m.weights[PositionTable], m.before.Device, 1, count, c.Width); err != nil {
		return x, err
	}
	step := attn.Step{Batch: 1, Count: count, Before: m.before, After: m.after}
	for i := range m.layers {
		if err := m.layer(i, x, y, step); err != nil {
			return x, fmt.Errorf("layer %d: %w", i, err)
		}
	}
	return x, nil
}

// layer adds the layer's attention, then its MLP, to x; y is for results in
// between.
func (m *Model) layer(i int, x, y nn.Floats, s attn.Step) error {
	c := m.config
	if err := m.norm(y, x, InLayer(i, Gain1), InLayer(i, Bias1)); err != nil {
		return err
	}
	added, _ := m.added.Slice(0, s.Rows()*c.Width)
	if err := m.layers[i].Forward(added, y, s); err != nil {
		return err
	}
	rows, w := s.Rows(), func(name string) nn.Floats { return m.weights[InLayer(i, name)] }
	if err := m.nn.AddNorm(y, x, added, w(Gain2), w(Bias2), rows, c.Width, float32(c.Epsilon)); err != nil {
		return err
	}
	inner, _ := m.inner.Slice(0, rows*c.Inner)
	if err := m.with(InLayer(i, UpWeight)).LinearGELU(inner, y, w(UpWeight), w(UpBias), rows, c.Width, c.Inner); err != nil {
		return err
	}
	return m.with(InLayer(i, DownWeight)).LinearAdd(x, inner, w(DownWeight), w(DownBias), rows, c.Inner, c.Width)
}

// head turns the last token's row into logits, and the largest of them into the
// next step's token. The matrix is the table of tokens again.
func (m *Model) head(row nn.Floats) error {
	c := m.config
	if err := m.norm(m.last, row, FinalGain, FinalBias); err != nil {
		return err
	}
	if err := m.nn.Linear(m.logits, m.last, m.weights[TokenTable], nn.Floats{}, 1, c.Width, c.Vocabulary); err != nil {
		return err
	}
	first, _ := m.tokens.Slice(0, 1)
	return m.nn.Argmax(first, m.logits, 1, c.Vocabulary)
}

// eachRow shows the logits of all rows, of which only one is computed at a time:
// those of a long text would fill a GPU.
func (m *Model) eachRow(x nn.Floats, rows int, f func(int, []float32) error) error {
	for i := range rows {
		row, _ := x.Slice(i*m.config.Width, (i+1)*m.config.Width)
		if err := m.head(row); err != nil {
			return err
		}
		logits, err := m.Logits()
		if err != nil {
			return err
		}
		if err := f(i, logits); err != nil {
			return err
		}
	}
	return nil
}

func (m *Model) norm(out, x nn.Floats, gain, bias string) error {
	w := m.config.Width
	return m.nn.LayerNorm(out, x, m.weights[gain], m.weights[bias], x.Len()/w, w, float32(m.config.Epsilon))
}

// projections are the parts of one layer's attention that have weights.
type projections struct {
	m     *Model
	layer int
}

var _ attn.Projections = (*projections)(nil)

// QKV takes the three parts of one matrix: its rows are those of q, of k and of v.
func (p *projections) QKV(q, k, v, x device.Buffer[float32], s attn.Step) error {
	w, name := p.m.config.Width, InLayer(p.layer, QKVWeight)
	weights, err := inParts(p.m.weights[name], 3)
	if err != nil {
		return err
	}
	biases, err := inParts(p.m.weights[InLayer(p.layer, QKVBias)], 3)
	if err != nil {
		return err
	}
	parts := []nn.Part{{Out: q}, {Out: k}, {Out: v}}
	for i := range parts {
		parts[i].W, parts[i].Bias = weights[i], biases[i]
	}
	return p.m.with(name).Linears(x, s.Rows(), w, w, parts...)
}

// Out is the projection behind the attention.
func (p *projections) Out(out, y device.Buffer[float32], s attn.Step) error {
	w, name := p.m.config.Width, InLayer(p.layer, OutWeight)
	return p.m.with(name).Linear(out, y, p.m.weights[name], p.m.weights[InLayer(p.layer, OutBias)], s.Rows(), w, w)
}
