package e2e

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"flashlab/attn"
	"flashlab/attn/attntest"
	"flashlab/device"
	"flashlab/nn"
	"flashlab/nn/llama"
	"flashlab/tensor"
)

// bench is a layer of yours, and a plain one with the same weights and its own
// cache.
type bench struct {
	t             *testing.T
	d             device.Device
	shape         attn.LayerShape
	hidden        int
	yours, plain  attn.Layer
	before, after attn.PerSequence
	prefills      int // calls of the prefill kernel
	decodes       int
}

// start makes layers of 3 heads of 8, with room for prompts of that many tokens.
func start(t *testing.T, batch, prompt int) *bench {
	t.Helper()
	b := &bench{t: t, d: attntest.Device(t), hidden: 20}
	q := device.QueueOf(b.d)
	l, err := nn.New(q)
	require.NoError(t, err)
	k, err := nn.PlainKernels(q, l)
	require.NoError(t, err)
	b.shape = attn.LayerShape{Heads: 3, MaxRows: batch * prompt,
		CacheShape: attn.CacheShape{Batch: batch, MaxSeq: prompt + 8, KVHeads: 3, Dim: 8}}
	p := &llama.Projections{Layers: l, Hidden: b.hidden, Heads: 3, Dim: 8, Rotary: llama.Base}
	for i, w := range []*device.Buffer[float32]{&p.Q, &p.K, &p.V, &p.O} {
		*w = attntest.Input(t, b.d, []string{"wq", "wk", "wv", "wo"}[i], b.numbers(24*b.hidden, uint32(i), 0.2))
	}
	b.plain, err = nn.NewLayer(q, b.shape, p, k, b.cache())
	require.NoError(t, err)
	counted := attn.Kernels{Prefill: countedPrefill{k.Prefill, &b.prefills}, Decode: countedDecode{k.Decode, &b.decodes}, Rearranger: k.Rearranger}
	if b.yours, err = New(q, b.shape, p, counted, b.cache()); errors.Is(err, attn.ErrNotImplemented) {
		t.Fatal("not implemented: New in attention.go is still the stub (README.md says where to start)")
	}
	require.NoError(t, err, "New failed")
	for _, n := range []*attn.PerSequence{&b.before, &b.after} {
		n.Host = make([]int, batch)
		n.Device, err = device.Upload(q, "counts", make([]int32, batch))
		require.NoError(t, err)
	}
	return b
}

// cache is full of NaN: a layer may only read what has been written.
func (b *bench) cache() attn.Cache {
	n := b.shape.Elements()
	return attn.Cache{CacheShape: b.shape.CacheShape, K: attntest.Output(b.t, b.d, "cache.k", n), V: attntest.Output(b.t, b.d, "cache.v", n)}
}

func (b *bench) numbers(n int, stream uint32, scale float32) []float32 {
	x, err := tensor.Random(tensor.Normal, 5, stream, n)
	require.NoError(b.t, err)
	for i := range x.Data {
		x.Data[i] *= scale
	}
	return x.Data
}

// step is a pass of count tokens, after before others.
func (b *bench) step(count, before int) attn.Step {
	for i := range b.before.Host {
		b.before.Host[i], b.after.Host[i] = before, before+count
	}
	for _, n := range []attn.PerSequence{b.before, b.after} {
		var values []int32
		for _, v := range n.Host {
			values = append(values, int32(v))
		}
		require.NoError(b.t, n.Device.CopyIn(b.d, values))
	}
	return attn.Step{Batch: b.shape.Batch, Count: count, Before: b.before, After: b.after}
}

// same runs both layers on new numbers, and compares.
func (b *bench) same(count, before int, hint string) {
	b.t.Helper()
	s := b.step(count, before)
	n := s.Rows() * b.hidden
	x := attntest.Input(b.t, b.d, "x", b.numbers(n, uint32(100+before), 1))
	want, got := b.run(b.plain, x, s), b.run(b.yours, x, s)
	what := fmt.Sprintf("a pass of %d × %d tokens, each sequence with %d before", s.Batch, count, before)
	for i := range want {
		if d := want[i] - got[i]; d <= 1e-4 && d >= -1e-4 { // false for NaN
			continue
		}
		attntest.Findings(b.t, b.d)
		b.t.Fatalf("%s: element %d of token %d is %v, want %v%s\n  hint: %s",
			what, i%b.hidden, i/b.hidden%count, got[i], want[i], attntest.Unwritten(got), hint)
	}
}

func (b *bench) run(l attn.Layer, x device.Buffer[float32], s attn.Step) []float32 {
	b.t.Helper()
	out := attntest.Output(b.t, b.d, "out", x.Len())
	b.check(l.Forward(out, x, s))
	require.NoError(b.t, b.d.Sync())
	got, err := out.CopyOut(b.d)
	require.NoError(b.t, err)
	return got
}

func (b *bench) check(err error) {
	b.t.Helper()
	if errors.Is(err, attn.ErrNotImplemented) {
		b.t.Fatal("not implemented: Forward in attention.go is still the stub (README.md says where to start)")
	}
	if err != nil {
		attntest.Fatal(b.t, b.d, "Forward failed: %v", err)
	}
}

type countedPrefill struct {
	attn.Kernel
	calls *int
}

func (c countedPrefill) Run(out, q, k, v device.Buffer[float32], s attn.Shape) error {
	*c.calls++
	return c.Kernel.Run(out, q, k, v, s)
}

type countedDecode struct {
	attn.Decoder
	calls *int
}

func (c countedDecode) Decode(out, q device.Buffer[float32], cache attn.Cache, s attn.DecodeShape, lengths attn.PerSequence) error {
	*c.calls++
	return c.Decoder.Decode(out, q, cache, s, lengths)
}
