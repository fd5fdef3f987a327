package gpt2

import (
	"fmt"

	"flashlab/attn"
	"flashlab/device"
	"flashlab/nn"
	"flashlab/nn/lm"
)

// LM is a Model or a Reference.
type LM interface {
	lm.LM
	Config() Config
}

var (
	_ LM = (*Model)(nil)
	_ LM = (*Reference)(nil)
)

// Model is GPT-2 on a device, for one text at a time.
type Model struct {
	config  Config
	queue   device.Queue
	device  device.Device // the same, if it can record graphs; else nil
	nn      *nn.Layers
	weights map[string]nn.Floats
	cut     map[string]*nn.Cut // the same in halves, with CutWeights
	layers  []attn.Layer
	cache   []attn.Cache

	before, after attn.PerSequence // positions of this step's first token, and of the next step's

	counts nn.Ints   // before, after, two of no use, and the tokens: what a prompt begins with is copied at once
	tokens nn.Ints   // [Positions]; a decoding step takes the first, and puts the next there and at its position
	x, y   nn.Floats // [Positions, Width]
	added  nn.Floats // [Positions, Width], what attention adds to x
	inner  nn.Floats // [Positions, Inner]
	last   nn.Floats // [Width], of the last token
	logits nn.Floats // [Vocabulary]

	memory []device.Memory // to give back

	token  int32 // the value of tokens[0], if known: see Greedy
	known  bool
	steps  int          // single ones so far; the first is not recorded
	graph  device.Graph // a decoding step; nil until it is recorded
	Direct error        // why steps are launched one kernel at a time, if they are
	prompt recordedPrompt
	onward onward

	other otherStep // in place of all that; nil without StepBy
}

// New puts weights on a device and makes the layers' attention with newLayer, from
// the kernels k, which must belong to the same device. If q is a whole
// device.Device, decoding steps are recorded as a graph.
func New(q device.Queue, l *nn.Layers, w Weights, newLayer attn.NewLayer, k attn.Kernels) (*Model, error) {
	c := w.Config()
	if err := c.Check(); err != nil {
		return nil, err
	}
	m := &Model{config: c, queue: q, nn: l, weights: map[string]nn.Floats{}}
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
		return err
	}
	for _, t := range m.config.Tensors() {
		if err := m.load(w, t); err != nil {
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

// firstToken is where tokens begin in counts: at a multiple of 16 bytes.
const firstToken = 4

// Config is the model's shape.
func (m *Model) Config() Config { return m.config }

// Positions is the longest text.
func (m *Model) Positions() int { return m.config.Positions }

// Room is how many more tokens the text may have.
func (m *Model) Room() int { return m.config.Positions - m.before.Host[0] }

// Reset forgets the text. The cache need not be erased: a text never looks beyond
// its own end.
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
func (m *Model) Prefill(prompt []int32) error { return m.prefill(prompt, nil) }

// Each does what Prefill does, and calls f for each position with its logits.
func (m *Model) Each(text []int32, f func(position int, logits []float32) error) error {
	return m.prefill(text, f)
}

func (m *Model) prefill(prompt []int32, f func(int, []float32) error) error {
	n := len(prompt)
	if err := m.config.checkText(prompt); err != nil {
		return err
	}
	if err := m.start(prompt, n); err != nil {
		return err
	}
	read := m.readPrompt
	if f != nil {
		read = func(n int) error { return m.queuePrompt(n, f) }
	}
	if err := read(n); err != nil {
		return err
	}
	m.known = false
	m.before.Host[0], m.after.Host[0] = n, n+1
	return m.onward.mark()
}

// checkText tells what is wrong with a prompt.
func (c Config) checkText(text []int32) error { return lm.CheckText(text, c.Positions, c.Vocabulary) }

// Step advances by one token.
func (m *Model) Step(token int32) error {
	if m.Room() < 1 {
		return lm.ErrFull
	}
	if err := m.config.checkText([]int32{token}); err != nil {
		return err
	}
	if !m.known || m.token != token {
		first, _ := m.tokens.Slice(0, 1)
		if err := first.CopyIn(m.queue, []int32{token}); err != nil {
			return err
		}
	}
	return m.queueStep()
}

// queueStep queues the step for the token that the device has picked or was given.
func (m *Model) queueStep() error {
	if err := m.step(); err != nil {
		return err
	}
	m.known = false
	m.steps++
	m.before.Host[0]++
	m.after.Host[0]++
	return m.onward.mark()
}

// step launches one token's work: the recorded graph, if there is one. The first
// step is not recorded, so that kernels may prepare what they like. StepBy has other ways.
func (m *Model) step() error {
	if m.other != nil {
		return m.other.decode(m)
	}
	if m.graph == nil && m.device != nil && m.Direct == nil && m.steps > 0 {
		m.graph, m.Direct = m.device.Record(func(device.Queue) error { return m.decode() })
	}
	if m.graph != nil {
		return m.graph.Launch()
	}
	return m.decode()
}

// decode is a step as kernels see it: everything that differs from one step to the
// next is in device memory, and the kernels move it on.
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
	if err := checkPicked(token[0]); err != nil {
		return 0, err
	}
	m.token, m.known = token[0], true
	return token[0], nil
}
