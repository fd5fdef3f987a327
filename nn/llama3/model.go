package llama3

import (
	"errors"
	"fmt"

	"flashlab/attn"
	"flashlab/device"
	"flashlab/nn"
	"flashlab/nn/lm"
)

var _ lm.LM = (*Model)(nil)

// Room says how a Model is laid out on a device.
type Room struct {
	Positions int // the longest text; 0 is as many as the model has
	// Grouped keeps as many heads of keys and values as the model has. Without it they are repeated, a head for each query
	// head, for layers that want as many of either.
	Grouped bool
}

// Model is a Llama on a device, in float32, for one text at a time.
type Model struct {
	config  Config // with Room's positions
	grouped bool
	queue   device.Queue
	device  device.Device // the same, if it can record graphs; else nil
	nn      *nn.Layers
	weights map[string]nn.Floats
	turns   device.Buffer[float64] // RoPE's, [Dim / 2]
	layers  []attn.Layer
	cache   []attn.Cache

	before, after attn.PerSequence // positions of this step's first token, and of the next step's

	counts      nn.Ints   // before, after, two of no use, and the tokens: what a prompt begins with is copied at once
	tokens      nn.Ints   // [Positions]; a decoding step takes the first, and puts the next there and at its position
	x, y, added nn.Floats // [Positions, Width]
	gate, up    nn.Floats // [Positions, Inner]
	k, v        nn.Floats // [Positions, KVHeads × Dim], before they are repeated
	last        nn.Floats // [Width], of the last token
	logits      nn.Floats // [Vocabulary]

	memory []device.Memory // to give back

	steps  int          // single ones so far; the first is not recorded
	graph  device.Graph // a decoding step; nil until it is recorded
	Direct error        // why steps are launched one kernel at a time, if they are

	// Progress, if there is one, is told after each layer how many of all are queued: where launches wait, that is how far a
	// pass has come. A step that is a graph tells nothing.
	Progress func(done, all int)
}

// NewModel puts weights on a device and makes the layers' attention with newLayer, from the kernels k, which must belong to
// the same device. If q is a whole device.Device, decoding steps are recorded as a graph.
func NewModel(q device.Queue, l *nn.Layers, w Weights, r Room, newLayer attn.NewLayer, k attn.Kernels) (*Model, error) {
	c := w.Config()
	if r.Positions > 0 {
		c.Positions = min(c.Positions, r.Positions)
	}
	if err := c.Check(); err != nil {
		return nil, err
	}
	m := &Model{config: c, grouped: r.Grouped, queue: q, nn: l, weights: map[string]nn.Floats{}}
	if d, ok := q.(device.Device); ok {
		m.device, m.queue = d, device.QueueOf(d) // layers hold what cannot be turned back
	}
	if err := m.build(w, newLayer, k); err != nil {
		_ = m.Close() // the first error tells more
		return nil, err
	}
	return m, nil
}

func (m *Model) build(w Weights, newLayer attn.NewLayer, k attn.Kernels) error {
	if err := m.allocate(); err != nil {
		return fmt.Errorf("a model of %v: %w", m.config, err)
	}
	for _, t := range m.config.Tensors() {
		if err := load(m.queue, m.weights[t.Name], w, t); err != nil {
			return err
		}
	}
	shape := attn.LayerShape{Heads: m.config.Heads, MaxRows: m.config.Positions, CacheShape: m.cache[0].CacheShape}
	for i := range m.config.Layers {
		l, err := newLayer(m.queue, shape, &projections{m, i}, k, m.cache[i])
		if err != nil {
			return fmt.Errorf("layer %d: %w", i, err)
		}
		m.layers = append(m.layers, l)
	}
	return m.Reset()
}

// load puts a weight into its place, a piece at a time.
func load(q device.Queue, to nn.Floats, w Weights, t Tensor) error {
	x := make([]float32, min(t.Elements(), piece))
	for from := 0; from < t.Elements(); from += piece {
		x := x[:min(piece, t.Elements()-from)]
		if err := w.Read(t, from, x); err != nil {
			return err
		}
		part, err := to.Slice(from, from+len(x))
		if err != nil {
			return err
		}
		if err := part.CopyIn(q, x); err != nil {
			return err
		}
	}
	return nil
}

// Config is the model's shape; its positions are those that there is room for.
func (m *Model) Config() Config { return m.config }

// Positions is the longest text.
func (m *Model) Positions() int { return m.config.Positions }

// Room is how many more tokens the text may have.
func (m *Model) Room() int { return m.config.Positions - m.before.Host[0] }

// firstToken is where tokens begin in counts: at a multiple of 16 bytes.
const firstToken = 4

// Reset forgets the text. The cache need not be erased: a text never looks beyond its own end.
func (m *Model) Reset() error { return m.start(nil, 1) }

// start begins a text with tokens, and says where the next step ends.
func (m *Model) start(tokens []int32, after int) error {
	m.before.Host[0], m.after.Host[0] = 0, after
	counts := make([]int32, firstToken, firstToken+len(tokens))
	counts[1] = int32(after)
	to, err := m.counts.Slice(0, firstToken+len(tokens))
	if err != nil {
		return err
	}
	return to.CopyIn(m.queue, append(counts, tokens...))
}

// Prefill starts a text with a prompt.
func (m *Model) Prefill(prompt []int32) error { return m.Each(prompt, nil) }

// Each does what Prefill does, and calls f for each position with its logits.
func (m *Model) Each(text []int32, f func(position int, logits []float32) error) error {
	n := len(text)
	if err := lm.CheckText(text, m.config.Positions, m.config.Vocabulary); err != nil {
		return err
	}
	if err := m.start(text, n); err != nil {
		return err
	}
	x, err := m.pass(n)
	if err != nil {
		return err
	}
	if f != nil {
		if err := m.eachRow(x, n, f); err != nil {
			return err
		}
	}
	last, _ := x.Slice((n-1)*m.config.Width, n*m.config.Width)
	if err := m.head(last); err != nil {
		return err
	}
	if err := m.nn.GoOn(m.before.Device, m.after.Device, m.tokens, n); err != nil {
		return err
	}
	m.before.Host[0], m.after.Host[0] = n, n+1
	return nil
}

// eachRow shows the logits of all rows, of which only one is computed at a time: those of a long text would fill a GPU.
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

// Step advances by one token.
func (m *Model) Step(token int32) error {
	if m.Room() < 1 {
		return lm.ErrFull
	}
	if err := lm.CheckText([]int32{token}, m.config.Positions, m.config.Vocabulary); err != nil {
		return err
	}
	first, _ := m.tokens.Slice(0, 1)
	if err := first.CopyIn(m.queue, []int32{token}); err != nil {
		return err
	}
	if err := m.step(); err != nil {
		return err
	}
	m.steps++
	m.before.Host[0]++
	m.after.Host[0]++
	return nil
}

// step launches one token's work: the recorded graph, if there is one. The first step is not recorded, so that kernels may
// prepare what they like.
func (m *Model) step() error {
	if m.graph == nil && m.device != nil && m.Direct == nil && m.steps > 0 {
		m.graph, m.Direct = m.device.Record(func(device.Queue) error { return m.decode() })
	}
	if m.graph != nil {
		return m.graph.Launch()
	}
	return m.decode()
}

// decode is a step as kernels see it: everything that differs from one step to the next is in device memory, and the kernels
// move it on.
func (m *Model) decode() error {
	x, err := m.pass(1)
	if err != nil {
		return err
	}
	if err := m.head(x); err != nil {
		return err
	}
	return m.nn.GoOn(m.before.Device, m.after.Device, m.tokens, 1)
}

// Logits are those of the token that comes next.
func (m *Model) Logits() ([]float32, error) { return m.logits.CopyOut(m.queue) }

// Greedy is the token with the largest logit, as picked by the device.
func (m *Model) Greedy() (int32, error) {
	first, _ := m.tokens.Slice(0, 1)
	token, err := first.CopyOut(m.queue)
	if err != nil {
		return 0, err
	}
	if token[0] < 0 {
		return 0, errors.New("the model's logits hold NaN: a kernel is wrong")
	}
	return token[0], nil
}
