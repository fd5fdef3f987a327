package decoder

import (
	"errors"
	"fmt"
	"slices"

	"flashlab/attn"
	"flashlab/device"
	"flashlab/nn"
	"flashlab/nn/half"
)

// Step is what one pass works on: Count new tokens of each of the sequences First … First + Batch − 1.
type Step struct {
	half.Positions
	First int
	Seen  attn.PerSequence // tokens of each sequence before these; Before is its device part
	After attn.PerSequence // Seen + Count
}

// Model is a model on a device, for one batch of sequences.
type Model struct {
	Config
	Room
	Direct error // why steps are not recorded as a graph, where that was tried

	queue     device.Queue
	device    device.Device // nil where steps cannot be recorded
	half      *half.Layers
	nn        *nn.Layers
	weights   Weights
	attention Attention

	turns        device.Buffer[float64]
	seen, after  attn.PerSequence
	prompt, next nn.Ints   // tokens: [Rows], and to go on with [Batch]
	x, h, y      Halves    // [Rows, Hidden]: what adds up, its norm, what is added
	qkv, mixed   Halves    // [Rows, All], [Rows, Width]
	both, inner  Halves    // [Rows, 2 × MLP], [Rows, MLP]
	end          Halves    // [Batch, Hidden], the norm of the last tokens
	logits       nn.Floats // [Batch, Vocabulary]
	memory       []device.Memory
	warm         bool // a step has run
	step         device.Graph
	one          *oneKernel // what steps are, if not a graph
}

// New makes a model of weights and an attention, which stay their owner's. If q is a whole device.Device,
// steps are recorded as a graph.
func New(q device.Queue, h *half.Layers, l *nn.Layers, c Config, r Room, w Weights, a Attention) (*Model, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	if err := r.Check(); err != nil {
		return nil, err
	}
	if len(w.Blocks) != c.Layers {
		return nil, fmt.Errorf("a model of %v: there are weights of %d layers", c, len(w.Blocks))
	}
	m := &Model{Config: c, Room: r, queue: q, half: h, nn: l, weights: w, attention: a}
	if d, ok := q.(device.Device); ok {
		m.device, m.queue = d, device.QueueOf(d)
	}
	if err := m.allocate(); err != nil {
		_ = m.Close() // the first error tells more
		return nil, err
	}
	m.Reset()
	return m, nil
}

func (m *Model) allocate() (err error) {
	if m.turns, err = m.turnsOf(); err != nil {
		return err
	}
	for _, b := range []struct {
		name string
		to   *Halves
		n    int
	}{
		{"x", &m.x, m.Rows * m.Hidden}, {"h", &m.h, m.Rows * m.Hidden}, {"y", &m.y, m.Rows * m.Hidden},
		{"qkv", &m.qkv, m.Rows * m.All()}, {"mixed", &m.mixed, m.Rows * m.Width()},
		{"both", &m.both, m.Rows * 2 * m.MLP}, {"inner", &m.inner, m.Rows * m.MLP}, {"end", &m.end, m.Batch * m.Hidden},
	} {
		if *b.to, err = alloc[device.Float16](m, b.name, b.n); err != nil {
			return err
		}
	}
	for _, b := range []struct {
		name string
		to   *nn.Ints
		n    int
	}{{"prompt", &m.prompt, m.Rows}, {"next", &m.next, m.Batch}, {"seen", &m.seen.Device, m.Batch}, {"after", &m.after.Device, m.Batch}} {
		if *b.to, err = alloc[int32](m, b.name, b.n); err != nil {
			return err
		}
	}
	m.logits, err = alloc[float32](m, "logits", m.Batch*m.Vocabulary)
	return err
}

func (m *Model) turnsOf() (device.Buffer[float64], error) {
	t, err := m.Config.turns(m.queue)
	if err == nil {
		m.memory = append(m.memory, t.Memory())
	}
	return t, err
}

// alloc makes room that Close gives back.
func alloc[T device.Scalar](m *Model, name string, n int) (device.Buffer[T], error) {
	b, err := device.Alloc[T](m.queue, name, n)
	if err != nil {
		return b, fmt.Errorf("a model of %v: %w", m.Config, err)
	}
	m.memory = append(m.memory, b.Memory())
	return b, nil
}

// Close gives back what the model allocated; weights and caches are their owners'.
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

// Reset forgets all sequences. Caches keep what is in them: nobody may read beyond what the next sequences
// have put there.
func (m *Model) Reset() {
	m.seen.Host, m.after.Host = make([]int, m.Batch), make([]int, m.Batch)
}

// Position is the number of tokens of each sequence.
func (m *Model) Position() int { return m.seen.Host[0] }

// Recorded tells whether steps are launched as a whole by now: as a graph, or as one kernel.
func (m *Model) Recorded() bool { return m.step != nil || m.one != nil }

// Next fetches the tokens to go on with: −1 where the logits hold a NaN.
func (m *Model) Next() ([]int32, error) { return m.next.CopyOut(m.queue) }

// SetNext makes the next step go on with other tokens.
func (m *Model) SetNext(tokens []int32) error { return m.next.CopyIn(m.queue, tokens) }

// NextTokens is where these are on the device, [Batch].
func (m *Model) NextTokens() nn.Ints { return m.next }

// Logits are those after the last pass, [Batch, Vocabulary].
func (m *Model) Logits() nn.Floats { return m.logits }

// Prefill takes the prompts, one for each sequence and all of one length.
func (m *Model) Prefill(prompts [][]int32) error {
	if len(prompts) != m.Batch {
		return fmt.Errorf("prefill: %d prompts, want one for each of %d sequences", len(prompts), m.Batch)
	}
	count := len(prompts[0])
	if m.seen.Host[0] != 0 {
		return errors.New("prefill: there are sequences already: Reset comes first")
	}
	if most := min(m.Slots, m.Rows); count < 1 || count > most {
		return fmt.Errorf("prefill: a prompt of %d tokens, want 1 to %d", count, most)
	}
	for b, p := range prompts {
		if len(p) != count {
			return fmt.Errorf("prefill: prompt %d has %d tokens, the first has %d: all must be of one length", b, len(p), count)
		}
	}
	if err := m.at(0, count); err != nil {
		return err
	}
	for first := 0; first < m.Batch; first += m.Rows / count {
		some := prompts[first:min(m.Batch, first+m.Rows/count)]
		tokens, _ := m.prompt.Slice(0, len(some)*count) // at most Rows
		if err := tokens.CopyIn(m.queue, slices.Concat(some...)); err != nil {
			return err
		}
		if err := m.pass(tokens, first, len(some), count); err != nil {
			m.Reset()
			return err
		}
	}
	if err := m.choose(m.end); err != nil {
		return err
	}
	return m.at(count, count+1)
}

// at says where the next pass begins, and where it ends.
func (m *Model) at(seen, after int) error {
	for _, c := range []struct {
		attn.PerSequence
		n int
	}{{m.seen, seen}, {m.after, after}} {
		for b := range c.Host {
			c.Host[b] = c.n
		}
		if err := c.Device.CopyIn(m.queue, slices.Repeat([]int32{int32(c.n)}, m.Batch)); err != nil {
			return err
		}
	}
	return nil
}

// Step takes one more token for each sequence: those that Next holds, which are the most likely ones unless
// SetNext has said otherwise. The second step is recorded as a graph, which is launched from then on: all
// that changes is in device memory.
func (m *Model) Step() error {
	switch at := m.seen.Host[0]; {
	case at == 0:
		return errors.New("step: there is no sequence yet: Prefill comes first")
	case at == m.Slots:
		return fmt.Errorf("step: the cache is full: it has %d slots", m.Slots)
	}
	if err := m.decode(); err != nil {
		return err
	}
	for b := range m.seen.Host {
		m.seen.Host[b]++
		m.after.Host[b]++
	}
	return nil
}

func (m *Model) decode() error {
	if m.one != nil {
		return m.one.decode(m)
	}
	one := func(device.Queue) error {
		if err := m.pass(m.next, 0, m.Batch, 1); err != nil {
			return err
		}
		return errors.Join(m.choose(m.end), m.nn.Advance(m.seen.Device, 1), m.nn.Advance(m.after.Device, 1))
	}
	if m.device == nil || !m.warm || m.Direct != nil {
		m.warm = true
		return one(nil)
	}
	if m.step == nil {
		step, err := m.device.Record(one)
		if errors.Is(err, device.ErrNotRecordable) {
			m.Direct = err
			return one(nil)
		}
		if err != nil {
			return fmt.Errorf("record a decoding step: %w", err)
		}
		m.step = step
	}
	return m.step.Launch()
}

// choose writes the logits of end, and the most likely tokens.
func (m *Model) choose(end Halves) error {
	if err := m.half.Logits(m.logits, end, m.weights.Head, m.Batch, m.Hidden, m.Vocabulary); err != nil {
		return err
	}
	return m.nn.Argmax(m.next, m.logits, m.Batch, m.Vocabulary)
}
