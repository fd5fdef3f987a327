package nn

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/attn"
	"flashlab/device"
)

// plainProjections have no weights: q and k are the input, v is twice that.
type plainProjections struct {
	*Layers
	width int
}

func (p plainProjections) copy(to, from Floats, s attn.Step) error {
	return p.LastRows(to, from, s.Rows(), 1, p.width)
}

func (p plainProjections) QKV(q, k, v, x Floats, s attn.Step) error {
	if err := p.copy(q, x, s); err != nil {
		return err
	}
	if err := p.copy(k, x, s); err != nil {
		return err
	}
	return p.Add(v, x, x)
}

func (p plainProjections) Out(out, y Floats, s attn.Step) error { return p.copy(out, y, s) }

func TestPlainLayer(t *testing.T) {
	d := start(t)
	shape := attn.LayerShape{Heads: 3, CacheShape: attn.CacheShape{Batch: 2, MaxSeq: 9, KVHeads: 3, Dim: 10}, MaxRows: 14}
	c := newKV(t, d, shape.CacheShape)
	kernels, err := PlainKernels(device.QueueOf(d), d.Layers)
	require.NoError(t, err)
	layer, err := NewLayer(device.QueueOf(d), shape, plainProjections{d.Layers, shape.Width()}, kernels, c.Cache)
	require.NoError(t, err)

	for _, lengths := range [][]int{{7, 1, 1}, {1, 3, 2}} { // prompts of several tokens, and of one
		before := 0
		for _, n := range lengths {
			step := attn.Step{Batch: 2, Count: n, Before: counts(t, d, before, before), After: counts(t, d, before+n, before+n)}
			x := normal(t, step.Rows()*shape.Width())
			for b := range 2 {
				to, from := (b*shape.MaxSeq+before)*shape.Slot(), b*n*shape.Slot()
				copy(c.k[to:], x[from:from+n*shape.Slot()])
				for i := range n * shape.Slot() {
					c.v[to+i] = 2 * x[from+i]
				}
			}
			out := output[float32](t, d, "out", len(x))
			require.NoError(t, layer.Forward(out, on(t, d, "x", x), step))
			near(t, "layer", read(t, d, out), c.truth(x, shape.Heads, n, step.Before.Host))
			before += n
		}
	}

	tooMany := attn.Step{Batch: 2, Count: 8, Before: counts(t, d, 0, 0), After: counts(t, d, 8, 8)}
	assert.ErrorContains(t, layer.Forward(Floats{}, Floats{}, tooMany), "want 1 to 14")
	for want, broken := range map[string]func(s *attn.LayerShape, c *attn.Cache){
		"the cache given is": func(s *attn.LayerShape, _ *attn.Cache) { s.MaxSeq++ },
		"cannot share":       func(s *attn.LayerShape, _ *attn.Cache) { s.Heads = 4 },
		"at least 1":         func(s *attn.LayerShape, _ *attn.Cache) { s.MaxRows = 0 },
		"elements, want":     func(_ *attn.LayerShape, c *attn.Cache) { c.K = Floats{} },
	} {
		s, cache := shape, c.Cache
		broken(&s, &cache)
		_, err := NewLayer(d, s, nil, kernels, cache)
		assert.ErrorContains(t, err, want)
	}
}

// tiny is a model of one layer, with all that a step of decoding has.
type tiny struct {
	*Layers
	layer                        attn.Layer
	tokens, before, after        Ints
	table, gain, bias            Floats
	wq, wk, wv, wo, gate, up, wd Floats
	x, y, z, g, u, last, logits  Floats
}

const (
	tinyBatch, tinyHeads, tinyDim, tinyVocabulary, tinyMLP, tinyLong = 3, 2, 6, 19, 20, 12
	tinyWidth                                                        = tinyHeads * tinyDim
)

func newTiny(t *testing.T, d bench, prompt int) *tiny {
	m := &tiny{Layers: d.Layers}
	filled := func(name string, n int) Floats {
		b := output[float32](t, d, name, n)
		require.NoError(t, d.Fill(b, "normal", 3, uint32(name[0])<<8|uint32(name[1]), 0.3))
		return b
	}
	m.table, m.gain, m.bias = filled("table", tinyVocabulary*tinyWidth), filled("gain", tinyWidth), filled("bias", tinyWidth)
	m.wq, m.wk, m.wv, m.wo = filled("wq", tinyWidth*tinyWidth), filled("wk", tinyWidth*tinyWidth), filled("wv", tinyWidth*tinyWidth), filled("wo", tinyWidth*tinyWidth)
	m.gate, m.up, m.wd = filled("gate", tinyMLP*tinyWidth), filled("up", tinyMLP*tinyWidth), filled("wd", tinyMLP*tinyWidth)
	rows := tinyBatch * prompt
	for to, n := range map[*Floats]int{&m.x: rows * tinyWidth, &m.y: rows * tinyWidth, &m.z: rows * tinyWidth, &m.g: rows * tinyMLP, &m.u: rows * tinyMLP,
		&m.last: tinyBatch * tinyWidth, &m.logits: tinyBatch * tinyVocabulary} {
		*to = output[float32](t, d, "activations", n)
	}
	m.tokens = output[int32](t, d, "tokens", tinyBatch)
	m.before, m.after = on(t, d, "before", make([]int32, tinyBatch)), on(t, d, "after", make([]int32, tinyBatch))
	shape := attn.LayerShape{Heads: tinyHeads, MaxRows: rows,
		CacheShape: attn.CacheShape{Batch: tinyBatch, MaxSeq: tinyLong, KVHeads: tinyHeads, Dim: tinyDim}}
	kernels, err := PlainKernels(device.QueueOf(d), d.Layers)
	require.NoError(t, err)
	m.layer, err = NewLayer(device.QueueOf(d), shape, m, kernels, newKV(t, d, shape.CacheShape).Cache)
	require.NoError(t, err)
	return m
}

// all does one thing after the other until one fails.
func all(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func (m *tiny) QKV(q, k, v, x Floats, s attn.Step) error {
	to := func(y, w Floats) func() error {
		return func() error { return m.Linear(y, x, w, Floats{}, s.Rows(), tinyWidth, tinyWidth) }
	}
	turn := func(y Floats) func() error {
		return func() error { return m.RoPE(y, s.Before.Device, s.Batch, s.Count, tinyHeads, tinyDim, 10000) }
	}
	return all(to(q, m.wq), to(k, m.wk), to(v, m.wv), turn(q), turn(k))
}

func (m *tiny) Out(out, y Floats, s attn.Step) error {
	return m.Linear(out, y, m.wo, m.bias, s.Rows(), tinyWidth, tinyWidth)
}

// forward is a whole step: from tokens to the tokens that follow.
func (m *tiny) forward(tokens Ints, count int, before []int) error {
	after := make([]int, len(before))
	for i := range before {
		after[i] = before[i] + count
	}
	s := attn.Step{Batch: tinyBatch, Count: count, Before: attn.PerSequence{Host: before, Device: m.before}, After: attn.PerSequence{Host: after, Device: m.after}}
	rows := s.Rows()
	part := func(b Floats, n int) Floats { p, _ := b.Slice(0, n); return p }
	x, y, z := part(m.x, rows*tinyWidth), part(m.y, rows*tinyWidth), part(m.z, rows*tinyWidth)
	g, u := part(m.g, rows*tinyMLP), part(m.u, rows*tinyMLP)
	return all(
		func() error { return m.Embed(x, tokens, m.table, rows, tinyWidth) },
		func() error { return m.Advance(m.after, count) },
		func() error { return m.LayerNorm(y, x, m.gain, m.bias, rows, tinyWidth, 1e-5) },
		func() error { return m.layer.Forward(z, y, s) },
		func() error { return m.Add(x, x, z) },
		func() error { return m.LayerNorm(y, x, m.gain, m.bias, rows, tinyWidth, 1e-5) },
		func() error { return m.Linear(g, y, m.gate, Floats{}, rows, tinyWidth, tinyMLP) },
		func() error { return m.Linear(u, y, m.up, Floats{}, rows, tinyWidth, tinyMLP) },
		func() error { return m.SwiGLU(g, g, u) },
		func() error { return m.Linear(z, g, m.wd, Floats{}, rows, tinyMLP, tinyWidth) },
		func() error { return m.Add(x, x, z) },
		func() error { return m.LastRows(m.last, x, tinyBatch, count, tinyWidth) },
		func() error {
			return m.Linear(m.logits, m.last, m.table, Floats{}, tinyBatch, tinyWidth, tinyVocabulary)
		},
		func() error { return m.Argmax(m.tokens, m.logits, tinyBatch, tinyVocabulary) },
		func() error { return m.Advance(m.before, count) },
	)
}

// A step that was recorded once gives, launched again and again, the tokens of steps
// that are queued one by one, and of a pass over the whole text.
func TestStepInAGraph(t *testing.T) {
	d := start(t)
	const prompt, steps = 4, 7
	text := make([]int32, tinyBatch*prompt)
	for i := range text {
		text[i] = int32(i*i+3) % tinyVocabulary
	}
	alone, graphed := newTiny(t, d, prompt), newTiny(t, d, prompt)
	at := []int{0, 0, 0}
	for _, m := range []*tiny{alone, graphed} {
		require.NoError(t, m.forward(on(t, d, "text", text), prompt, at))
	}
	require.Equal(t, read(t, d, alone.logits), read(t, d, graphed.logits))

	at = []int{prompt, prompt, prompt}
	graph, err := d.Record(func(device.Queue) error { return graphed.forward(graphed.tokens, 1, slices.Clone(at)) })
	require.NoError(t, err, "nothing allocates")
	defer func() { _ = graph.Close() }()
	texts := make([][]int32, tinyBatch)
	for b := range texts {
		texts[b] = slices.Clone(text[b*prompt : (b+1)*prompt])
	}
	for step := range steps {
		for b, token := range read(t, d, alone.tokens) {
			texts[b] = append(texts[b], token)
		}
		require.NoError(t, alone.forward(alone.tokens, 1, at))
		require.NoError(t, graph.Launch())
		require.Equal(t, read(t, d, alone.tokens), read(t, d, graphed.tokens), "step %d", step)
		require.Equal(t, read(t, d, alone.logits), read(t, d, graphed.logits), "step %d", step)
		for i := range at {
			at[i]++
		}
	}

	whole := newTiny(t, d, prompt+steps)
	require.NoError(t, whole.forward(on(t, d, "text", slices.Concat(texts...)), prompt+steps, []int{0, 0, 0}))
	assert.Equal(t, read(t, d, whole.tokens), read(t, d, graphed.tokens))
	assert.InDeltaSlice(t, read(t, d, whole.logits), read(t, d, graphed.logits), 1e-4)
}
