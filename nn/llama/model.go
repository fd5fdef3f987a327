package llama

import (
	"fmt"

	"flashlab/attn"
	"flashlab/device"
	"flashlab/nn"
	"flashlab/tensor"
)

// Model is a model on a device, with a cache for one batch of sequences.
type Model struct {
	Config
	Direct error // why steps are not recorded as a graph, where that was tried

	queue  device.Queue
	device device.Device // nil where steps cannot be recorded
	layers *nn.Layers
	fill   Filler

	embedding, head Floats
	blocks          []block
	last            norm

	before, after attn.PerSequence     // of the next pass
	prompt        device.Buffer[int32] // tokens [Batch, Prompt]
	next          device.Buffer[int32] // the tokens to go on with, [Batch]
	x, h, y       Floats               // activations [Batch × Prompt, Hidden]: what adds up, its norm, what is added
	gate, up      Floats               // [Batch × Prompt, MLP]
	end           Floats               // the last token's x, [Batch, Hidden]
	logits        Floats               // [Batch, Vocabulary]

	memory []device.Memory // to give back
	warm   bool            // a step has run
	step   device.Graph
}

type norm struct{ gain, bias Floats }

// block is one layer of the model.
type block struct {
	norm1, norm2   norm
	attention      attn.Layer
	gate, up, down Floats
}

// New makes a model with the weights of a seed, which are computed on the
// device. newLayer makes the attention of each layer, of the kernels k. If q is
// a whole device.Device, steps are recorded as a graph.
func New(q device.Queue, l *nn.Layers, c Config, seed uint64, newLayer attn.NewLayer, k attn.Kernels) (*Model, error) {
	return NewFilled(q, l, c, onDevice(q, l, seed), newLayer, k)
}

// Filler puts a weight's values into its place on the device.
type Filler func(to Floats, w Weight) error

// NewFilled makes a model whose weights come from elsewhere.
func NewFilled(q device.Queue, l *nn.Layers, c Config, fill Filler, newLayer attn.NewLayer, k attn.Kernels) (*Model, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	m := &Model{Config: c, queue: q, layers: l, fill: fill}
	if d, ok := q.(device.Device); ok {
		m.device, m.queue = d, device.QueueOf(d)
	}
	if err := m.build(newLayer, k); err != nil {
		_ = m.Close() // the first error tells more
		return nil, err
	}
	return m, nil
}

func (m *Model) build(newLayer attn.NewLayer, k attn.Kernels) error {
	rows := m.Batch * m.Prompt
	for _, b := range []struct {
		name string
		to   *Floats
		n    int
	}{
		{"x", &m.x, rows * m.Hidden}, {"h", &m.h, rows * m.Hidden}, {"y", &m.y, rows * m.Hidden},
		{"gate", &m.gate, rows * m.MLP}, {"up", &m.up, rows * m.MLP},
		{"end", &m.end, m.Batch * m.Hidden}, {"logits", &m.logits, m.Batch * m.Vocabulary},
	} {
		if err := alloc(m, b.to, b.name, b.n); err != nil {
			return err
		}
	}
	for _, b := range []struct {
		name string
		to   *device.Buffer[int32]
		n    int
	}{{"prompt", &m.prompt, rows}, {"next", &m.next, m.Batch}, {"before", &m.before.Device, m.Batch}, {"after", &m.after.Device, m.Batch}} {
		if err := alloc(m, b.to, b.name, b.n); err != nil {
			return err
		}
	}
	m.Reset()
	return m.load(newLayer, k)
}

// load makes the weights, in the order of Config.Weights, and the layers.
func (m *Model) load(newLayer attn.NewLayer, k attn.Kernels) error {
	rest := m.Weights()
	var failed error
	take := func() (f Floats) {
		if failed == nil {
			f, failed = m.weight(rest[0])
		}
		rest = rest[1:]
		return f
	}
	m.embedding = take()
	for l := range m.Layers {
		b := block{norm1: norm{take(), take()}}
		p := &Projections{Layers: m.layers, Hidden: m.Hidden, Heads: m.Heads, Dim: m.Dim(), Rotary: Base,
			Q: take(), K: take(), V: take(), O: take()}
		b.norm2 = norm{take(), take()}
		b.gate, b.up, b.down = take(), take(), take()
		if failed != nil {
			return failed
		}
		var err error
		if b.attention, err = m.attention(newLayer, p, k); err != nil {
			return fmt.Errorf("the attention of layer %d: %w", l, err)
		}
		m.blocks = append(m.blocks, b)
	}
	m.last = norm{take(), take()}
	m.head = take()
	return failed
}

func (m *Model) attention(newLayer attn.NewLayer, p attn.Projections, k attn.Kernels) (attn.Layer, error) {
	c := attn.Cache{CacheShape: attn.CacheShape{Batch: m.Batch, MaxSeq: m.MaxSeq, KVHeads: m.Heads, Dim: m.Dim()}}
	if err := alloc(m, &c.K, "cache.k", c.Elements()); err != nil {
		return nil, err
	}
	if err := alloc(m, &c.V, "cache.v", c.Elements()); err != nil {
		return nil, err
	}
	return newLayer(m.queue, attn.LayerShape{Heads: m.Heads, CacheShape: c.CacheShape, MaxRows: m.Batch * m.Prompt}, p, k, c)
}

// weight puts one on the device.
func (m *Model) weight(w Weight) (f Floats, err error) {
	if err := alloc(m, &f, w.Name, w.Rows*w.Columns); err != nil {
		return f, err
	}
	return f, m.fill(f, w)
}

// onDevice computes weights there, all but the few that are not centred on 0.
func onDevice(q device.Queue, l *nn.Layers, seed uint64) Filler {
	return func(f Floats, w Weight) error {
		if w.Base == 0 {
			return l.Fill(f, tensor.Normal, seed, w.Stream, w.Scale)
		}
		values, err := w.Values(seed)
		if err != nil {
			return err
		}
		return f.CopyIn(q, values)
	}
}

// alloc makes room that Close gives back.
func alloc[T device.Scalar](m *Model, to *device.Buffer[T], name string, n int) error {
	b, err := device.Alloc[T](m.queue, name, n)
	if err != nil {
		return fmt.Errorf("a model of %v: %w", m.Config, err)
	}
	m.memory = append(m.memory, b.Memory())
	*to = b
	return nil
}

// Close gives back what the model allocated; what its layers did is theirs.
func (m *Model) Close() error {
	var failed error
	if m.step != nil {
		failed = m.step.Close()
		m.step = nil
	}
	for _, b := range m.memory {
		if err := m.queue.Free(b); failed == nil {
			failed = err
		}
	}
	m.memory = nil
	return failed
}
