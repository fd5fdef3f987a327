package nn

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/attn"
	"flashlab/attn/attntest"
	"flashlab/device"
	"flashlab/grader/grading/judge"
	"flashlab/grader/tasks/shared"
)

func startAttention(t *testing.T) (device.Device, *Attention) {
	t.Helper()
	d := attntest.Device(t)
	a, err := NewAttention(device.QueueOf(d))
	require.NoError(t, err)
	return d, a
}

func TestAttentionContract(t *testing.T) {
	d, a := startAttention(t)
	attntest.Attention(t, d, a, true)
}

func TestAttention(t *testing.T) {
	d, a := startAttention(t)
	for _, s := range []attn.Shape{
		{Batch: 1, Heads: 1, KVHeads: 1, SeqQ: 1, SeqK: 1, Dim: 1},
		{Batch: 2, Heads: 6, KVHeads: 2, SeqQ: 5, SeqK: 17, Dim: 33},
		{Batch: 1, Heads: 2, KVHeads: 1, SeqQ: 3, SeqK: 113, Dim: 256, Causal: true},
		{Batch: 3, Heads: 4, KVHeads: 4, SeqQ: 65, SeqK: 64, Dim: 17, Causal: true},
		{Batch: 1, Heads: 1, KVHeads: 1, SeqQ: 2, SeqK: 1000, Dim: 130},
	} {
		q, k, v := normal(t, s.QElements()), normal(t, s.KVElements()), normal(t, s.KVElements())
		out := output[float32](t, d, "out", len(q))
		require.NoError(t, a.Run(out, on(t, d, "q", q), on(t, d, "k", k), on(t, d, "v", v), s))
		near(t, s.String(), read(t, d, out), shared.AttentionTruth(q, k, v, s))
	}
}

// kv is a cache, on both sides.
type kv struct {
	attn.Cache
	k, v []float32 // NaN in slots that are not taken
}

func newKV(t *testing.T, d device.Device, s attn.CacheShape) kv {
	c := kv{attn.Cache{K: output[float32](t, d, "cached k", s.Elements()), V: output[float32](t, d, "cached v", s.Elements()), CacheShape: s},
		make([]float32, s.Elements()), make([]float32, s.Elements())}
	for i := range c.k {
		c.k[i], c.v[i] = float32(math.NaN()), float32(math.NaN())
	}
	return c
}

func counts(t *testing.T, d device.Device, n ...int) attn.PerSequence {
	t.Helper()
	on32 := make([]int32, len(n))
	for i, v := range n {
		on32[i] = int32(v)
	}
	return attn.PerSequence{Host: n, Device: on(t, d, "counts", on32)}
}

// put updates both sides with count new tokens of each sequence.
func (c kv) put(t *testing.T, d device.Device, a attn.Decoder, count int, at attn.PerSequence) {
	t.Helper()
	k, v := normal(t, c.Batch*count*c.Slot()), normal(t, c.Batch*count*c.Slot())
	for b, first := range at.Host {
		to := (b*c.MaxSeq + first) * c.Slot()
		from := b * count * c.Slot()
		copy(c.k[to:], k[from:from+count*c.Slot()])
		copy(c.v[to:], v[from:from+count*c.Slot()])
	}
	require.NoError(t, a.Update(c.Cache, on(t, d, "k", k), on(t, d, "v", v), count, at))
}

// truth is the attention of q [Batch, count, heads × Dim] to what the sequences
// have cached: before[b] tokens, and the count new ones.
func (c kv) truth(q []float32, heads, count int, before []int) judge.Truth {
	var whole judge.Truth
	for b, n := range before {
		s := attn.Shape{Batch: 1, Heads: heads, KVHeads: c.KVHeads, SeqQ: count, SeqK: n + count, Dim: c.Dim, Causal: true}
		width := heads * c.Dim
		own := apart(q[b*count*width:(b+1)*count*width], count, heads, c.Dim)
		slots := c.k[b*c.MaxSeq*c.Slot():][:s.SeqK*c.Slot()]
		values := c.v[b*c.MaxSeq*c.Slot():][:s.SeqK*c.Slot()]
		part := shared.AttentionTruth(own, apart(slots, s.SeqK, c.KVHeads, c.Dim), apart(values, s.SeqK, c.KVHeads, c.Dim), s)
		whole.Want = append(whole.Want, apart(part.Want, heads, count, c.Dim)...) // and back
		whole.Plain = append(whole.Plain, apart(part.Plain, heads, count, c.Dim)...)
		whole.Scale = append(whole.Scale, apart(part.Scale, heads, count, 1)...)
	}
	whole.Layout = judge.Layout{Outer: len(whole.Scale), Len: c.Dim, Inner: 1}
	return whole
}

// apart turns x [a, b, dim] into [b, a, dim].
func apart[T float](x []T, a, b, dim int) []T {
	y := make([]T, 0, len(x))
	for j := range b {
		for i := range a {
			y = append(y, x[(i*b+j)*dim:][:dim]...)
		}
	}
	return y
}

// sameCache wants the device's cache to be the host's, NaN where it is NaN.
func sameCache(t *testing.T, d device.Device, c kv) {
	t.Helper()
	for _, x := range []struct {
		Floats
		want []float32
	}{{c.K, c.k}, {c.V, c.v}} {
		for b, n := 0, c.MaxSeq*c.Slot(); b < c.Batch; b++ {
			part, err := x.Slice(b*n, (b+1)*n)
			require.NoError(t, err)
			want := x.want[b*n : (b+1)*n]
			taken := slices.IndexFunc(want, func(v float32) bool { return v != v }) // values never written may not be read
			if taken < 0 {
				taken = n
			}
			if taken > 0 {
				part, err = part.Slice(0, taken)
				require.NoError(t, err)
				assert.Equal(t, want[:taken], read(t, d, part))
			}
		}
	}
}

var cacheShapes = []struct {
	heads int
	attn.CacheShape
}{
	{1, attn.CacheShape{Batch: 1, MaxSeq: 3, KVHeads: 1, Dim: 1}},
	{6, attn.CacheShape{Batch: 2, MaxSeq: 20, KVHeads: 2, Dim: 33}},
	{4, attn.CacheShape{Batch: 3, MaxSeq: 150, KVHeads: 4, Dim: 64}},
	{2, attn.CacheShape{Batch: 1, MaxSeq: 70, KVHeads: 1, Dim: 256}},
}

// A prompt, then tokens one at a time, in sequences that start at different places.
func TestDecode(t *testing.T) {
	d, a := startAttention(t)
	for _, s := range cacheShapes {
		c := newKV(t, d, s.CacheShape)
		lengths := make([]int, s.Batch)
		c.put(t, d, a, s.MaxSeq-2, counts(t, d, lengths...))
		for b := range lengths {
			lengths[b] = max(s.MaxSeq-2-40*b, 1) // some forget a part of the prompt
			for i := lengths[b] * s.Slot(); i < s.MaxSeq*s.Slot(); i++ {
				c.k[b*s.MaxSeq*s.Slot()+i], c.v[b*s.MaxSeq*s.Slot()+i] = float32(math.NaN()), float32(math.NaN())
			}
		}
		for step := range 2 {
			before := counts(t, d, slices.Clone(lengths)...)
			c.put(t, d, a, 1, before)
			sameCache(t, d, c)
			for b := range lengths {
				lengths[b]++
			}
			q := normal(t, s.Batch*s.heads*s.Dim)
			Q := on(t, d, "q", q)
			truth := c.truth(q, s.heads, 1, before.Host)
			out := output[float32](t, d, "out", len(q))
			require.NoError(t, a.Decode(out, Q, c.Cache, attn.DecodeShape{Heads: s.heads, CacheShape: s.CacheShape}, counts(t, d, lengths...)))
			near(t, fmt.Sprintf("decode %v, step %d", s, step), read(t, d, out), truth)
			require.NoError(t, d.Poison(out.Memory()))
			require.NoError(t, a.Attend(out, Q, c.Cache, s.heads, 1, before))
			near(t, fmt.Sprintf("attend %v, step %d", s, step), read(t, d, out), truth)
		}
	}
}

// Several tokens at once, at the start or after others.
func TestAttend(t *testing.T) {
	d, a := startAttention(t)
	for _, s := range cacheShapes {
		c := newKV(t, d, s.CacheShape)
		lengths := make([]int, s.Batch)
		for _, count := range []int{s.MaxSeq / 2, 1, s.MaxSeq / 3} {
			before := counts(t, d, slices.Clone(lengths)...)
			c.put(t, d, a, count, before)
			q := normal(t, s.Batch*count*s.heads*s.Dim)
			out := output[float32](t, d, "out", len(q))
			require.NoError(t, a.Attend(out, on(t, d, "q", q), c.Cache, s.heads, count, before))
			near(t, fmt.Sprintf("%v, %d tokens after %d", s, count, lengths[0]), read(t, d, out), c.truth(q, s.heads, count, before.Host))
			for b := range lengths {
				lengths[b] += count
			}
		}
	}
}

// What is refused leaves everything as it was.
func TestDecodeErrors(t *testing.T) {
	d, a := startAttention(t)
	s := attn.CacheShape{Batch: 2, MaxSeq: 4, KVHeads: 2, Dim: 3}
	c := newKV(t, d, s)
	c.put(t, d, a, 4, counts(t, d, 0, 0))
	k := on(t, d, "k", normal(t, 2*2*s.Slot()))
	for name, at := range map[string]attn.PerSequence{
		"no slot for 2 more": counts(t, d, 0, 3), "has -1 tokens": counts(t, d, -1, 0), "one for each sequence": counts(t, d, 0),
	} {
		assert.ErrorContains(t, a.Update(c.Cache, k, k, 2, at), name)
	}
	assert.ErrorContains(t, a.Update(c.Cache, k, k, 1, counts(t, d, 0, 0)), "k holds 24 elements, want 12")
	assert.ErrorContains(t, a.Update(c.Cache, k, k, 0, counts(t, d, 0, 0)), "at least 1")
	sameCache(t, d, c)

	q := on(t, d, "q", normal(t, 2*4*3))
	before := normal(t, 2*4*3)
	out := on(t, d, "out", before)
	shape := attn.DecodeShape{Heads: 4, CacheShape: s}
	for name, lengths := range map[string]attn.PerSequence{
		"sequence 1 has a length of 0": counts(t, d, 1, 0), "sequence 0 has a length of 5": counts(t, d, 5, 1), "one for each sequence": counts(t, d, 1),
	} {
		assert.ErrorContains(t, a.Decode(out, q, c.Cache, shape, lengths), name)
	}
	odd := shape
	odd.Heads = 3
	three, err := q.Slice(0, 2*3*3)
	require.NoError(t, err)
	outThree, err := out.Slice(0, 2*3*3)
	require.NoError(t, err)
	assert.ErrorContains(t, a.Decode(outThree, three, c.Cache, odd, counts(t, d, 1, 1)), "3 query heads cannot share 2 key heads")
	assert.ErrorContains(t, a.Attend(outThree, three, c.Cache, 3, 1, counts(t, d, 1, 1)), "3 query heads cannot share 2 key heads")
	assert.ErrorContains(t, a.Attend(out, q, c.Cache, 4, 1, counts(t, d, 1, 4)), "no slot for 1 more")
	other := shape
	other.MaxSeq = 3
	assert.ErrorContains(t, a.Decode(out, q, c.Cache, other, counts(t, d, 1, 1)), "the cache given is")
	assert.Equal(t, before, read(t, d, out))

	wide := attn.Shape{Batch: 1, Heads: 1, KVHeads: 1, SeqQ: 1, SeqK: 1, Dim: 257}
	x := output[float32](t, d, "x", 257)
	assert.ErrorContains(t, a.Run(x, x, x, x, wide), "at most 256")
}

// A graph cannot check the host's numbers: launched once too often, it stays within
// the cache.
func TestDecodeBeyondTheCache(t *testing.T) {
	d, a := startAttention(t)
	s := attn.CacheShape{Batch: 2, MaxSeq: 2, KVHeads: 1, Dim: 4}
	c := newKV(t, d, s)
	c.put(t, d, a, 2, counts(t, d, 0, 0))
	late := attn.PerSequence{Host: []int{0, 0}, Device: on(t, d, "counts", []int32{1000, -1000})}
	x := on(t, d, "x", normal(t, s.Batch*s.Slot()))
	out := output[float32](t, d, "out", s.Batch*4)
	require.NoError(t, a.Update(c.Cache, x, x, 1, late))
	require.NoError(t, a.Attend(out, x, c.Cache, 1, 1, late))
	assert.Equal(t, []float32{0, 0, 0, 0}, read(t, d, out)[4:], "sees no key")
	sameCache(t, d, c)
}
