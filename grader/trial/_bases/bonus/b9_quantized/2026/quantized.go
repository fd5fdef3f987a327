package quantized

import "flashlab/device"

// Model is a Llama, ready to decode.
type Model struct {
	Config
	kit                   *Kit
	embedding, last, head Halves
	layers                []layer
	// What passes from one launch to the next, for the new token of each sequence.
	x, h   Floats // [Batch, Hidden]: the residual stream, and what is normed of it, or added to it
	qkv    Floats // [Batch, (Heads + 2 KVHeads) × Dim]
	mixed  Floats // [Batch, Heads × Dim]
	both   Floats // [Batch, 2 × MLP]
	inside Floats // [Batch, MLP]
}

// layer is one layer's weights and cache. Of each pair of ways one is there.
type layer struct {
	norm1, norm2           Halves
	qkv, out, gateUp, down matrix
	plain                  *Plain
	kivi                   *Kivi
}

// matrix is in halves, or in four bits.
type matrix struct {
	halves Halves
	four   *Four
}

// New loads the weights, and allocates all that the model will ever need.
func New(q device.Queue, k *Kit, c Config, from Checkpoint, w Way) (*Model, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	m := &Model{Config: c, kit: k}
	l := &loader{queue: q, kit: k, config: c, from: from, way: w}
	m.embedding = l.weight(Name{Kind: Embedding})
	for i := range c.Layers {
		m.layers = append(m.layers, l.layer(i))
	}
	m.last, m.head = l.weight(Name{Kind: Last}), l.weight(Name{Kind: Head})
	m.x, m.h = alloc[float32](l, "x", c.Hidden), alloc[float32](l, "h", c.Hidden)
	m.qkv = alloc[float32](l, "qkv", c.QKV())
	m.mixed = alloc[float32](l, "mixed", c.Heads*c.Dim)
	m.both, m.inside = alloc[float32](l, "gate and up", 2*c.MLP), alloc[float32](l, "inside", c.MLP)
	return m, l.err
}

// Step queues one step of every sequence.
func (m *Model) Step(logits Floats, tokens, lengths Ints) error {
	s := &steps{}
	s.do(m.kit.Embed(m.x, tokens, m.embedding, m.Config))
	for i := range m.layers {
		l := &m.layers[i]
		s.do(m.kit.Norm(m.h, m.x, l.norm1, m.Config))
		s.do(m.times(m.qkv, m.h, l.qkv))
		s.do(m.kit.Rotate(m.qkv, lengths, m.Config))
		s.do(m.attend(l, lengths))
		s.do(m.times(m.h, m.mixed, l.out))
		s.do(m.kit.Add(m.x, m.h))

		s.do(m.kit.Norm(m.h, m.x, l.norm2, m.Config))
		s.do(m.times(m.both, m.h, l.gateUp))
		s.do(m.kit.Gated(m.inside, m.both, m.Config))
		s.do(m.times(m.h, m.inside, l.down))
		s.do(m.kit.Add(m.x, m.h))
	}
	s.do(m.kit.Norm(m.h, m.x, m.last, m.Config))
	s.do(m.kit.Multiply(logits, m.h, m.head, m.Batch))
	return s.err
}

// steps remembers the first error of launches that follow each other.
type steps struct{ err error }

func (s *steps) do(err error) {
	if s.err == nil {
		s.err = err
	}
}

func (m *Model) times(y, x Floats, w matrix) error {
	if w.four != nil {
		return m.kit.MultiplyFour(y, x, *w.four, m.Batch)
	}
	return m.kit.Multiply(y, x, w.halves, m.Batch)
}

// attend keeps the new tokens, then reads them with all others. Groups are closed in between, as those
// that AttendKivi takes for full must have codes.
func (m *Model) attend(l *layer, lengths Ints) error {
	s := &steps{}
	if l.kivi == nil {
		s.do(m.kit.Append(*l.plain, m.qkv, lengths, m.Config))
		s.do(m.kit.Attend(m.mixed, m.qkv, *l.plain, lengths, m.Config))
		return s.err
	}
	s.do(m.kit.AppendOpen(*l.kivi, m.qkv, lengths, m.Config))
	s.do(m.kit.Close(*l.kivi, lengths, m.Config))
	s.do(m.kit.AttendKivi(m.mixed, m.qkv, *l.kivi, lengths, m.Config))
	return s.err
}

// loader allocates, until something fails: then all that follows does nothing.
type loader struct {
	queue  device.Queue
	kit    *Kit
	config Config
	from   Checkpoint
	way    Way
	err    error
}

// alloc makes a buffer with so many numbers for each sequence.
func alloc[T device.Scalar](l *loader, name string, each int) device.Buffer[T] {
	return buffer[T](l, name, l.config.Batch*each)
}

func buffer[T device.Scalar](l *loader, name string, n int) (b device.Buffer[T]) {
	if l.err == nil {
		b, l.err = device.Alloc[T](l.queue, name, n)
	}
	return b
}

// weight is one in halves.
func (l *loader) weight(n Name) Halves {
	w := buffer[device.Float16](l, "weights", l.config.Elements(n.Kind))
	if l.err == nil {
		l.err = l.from.Load(w, n)
	}
	return w
}

// matrix is loaded in halves, which make room again once they are packed: so there is never more
// than one such copy.
func (l *loader) matrix(n Name) (m matrix) {
	if !l.way.INT4 {
		m.halves = l.weight(n)
		return m
	}
	weights := l.config.Elements(n.Kind)
	m.four = &Four{Codes: buffer[uint8](l, "codes", weights/2), Scales: buffer[device.Float16](l, "scales", weights/WeightGroup)}
	whole := l.weight(n)
	if l.err == nil {
		l.err = l.kit.Pack(*m.four, whole)
	}
	if l.err == nil {
		l.err = whole.Free(l.queue)
	}
	return m
}

func (l *loader) layer(i int) layer {
	named := func(k Kind) Name { return Name{Kind: k, Layer: i} }
	made := layer{norm1: l.weight(named(Norm1)), norm2: l.weight(named(Norm2)),
		qkv: l.matrix(named(QKV)), out: l.matrix(named(Out)), gateUp: l.matrix(named(GateUp)), down: l.matrix(named(Down))}
	if l.way.KIVI {
		made.kivi = l.kivi()
	} else {
		made.plain = l.plain()
	}
	return made
}

func (l *loader) plain() *Plain {
	n := l.config.KVHeads * l.config.Slots * l.config.Dim
	return &Plain{K: alloc[device.Float16](l, "K", n), V: alloc[device.Float16](l, "V", n)}
}

func (l *loader) kivi() *Kivi {
	c := l.config
	numbers, tokens := c.KVHeads*c.Slots*c.Dim, c.KVHeads*c.Slots
	groups, open := numbers/CacheGroup, c.KVHeads*CacheGroup*c.Dim
	return &Kivi{K: alloc[uint8](l, "K", numbers/2), V: alloc[uint8](l, "V", numbers/2),
		KScales: alloc[device.Float16](l, "K's scales", groups), KLows: alloc[device.Float16](l, "K's lows", groups),
		VScales: alloc[device.Float16](l, "V's scales", tokens), VLows: alloc[device.Float16](l, "V's lows", tokens),
		KOpen: alloc[device.Float16](l, "K, open", open), VOpen: alloc[device.Float16](l, "V, open", open)}
}
