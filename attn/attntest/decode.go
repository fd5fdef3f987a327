package attntest

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"flashlab/attn"
	"flashlab/device"
)

// Decoding is a decoder's Decode, or another method that does the same.
type Decoding func(out, q device.Buffer[float32], c attn.Cache, s attn.DecodeShape, lengths attn.PerSequence) error

// step is one step with its inputs.
type step struct {
	attn.DecodeShape
	lengths []int
	q, k, v []float32
}

// Decode checks one step of decoding; call is the method's name.
func Decode(t *testing.T, d device.Device, call string, decode Decoding) {
	decodeOnce(t, d, call, decode, randomStep(t, decodeShape(1, 1, 1, 1, 1), []int{1}), "") // is anything written yet?
	t.Run("by_hand", func(t *testing.T) { decodeByHand(t, d, call, decode) })
	t.Run("float64", func(t *testing.T) { decodeRandom(t, d, call, decode) })
	t.Run("refuses", func(t *testing.T) { decodeRefuses(t, d, call, decode) })
}

// decodeShape is a step of Batch sequences.
func decodeShape(batch, heads, kvHeads, slots, dim int) attn.DecodeShape {
	return attn.DecodeShape{Heads: heads, CacheShape: attn.CacheShape{Batch: batch, MaxSeq: slots, KVHeads: kvHeads, Dim: dim}}
}

func decodeByHand(t *testing.T, d device.Device, call string, decode Decoding) {
	ln3, nan := float32(math.Log(3)), float32(math.NaN())
	for _, c := range []struct {
		name string
		in   step
		out  []float32
		hint string
	}{
		{"one_key", step{decodeShape(1, 1, 1, 1, 2), []int{1}, []float32{3, -1}, []float32{2, 2}, []float32{5, 7}}, []float32{5, 7},
			"the only key has a weight of 1, so out is its value"},
		{"one_to_three", step{decodeShape(1, 1, 1, 2, 1), []int{2}, []float32{1}, []float32{0, ln3}, []float32{0, 4}}, []float32{3},
			"the scores are 0 and ln 3, so the weights are 1/4 and 3/4"},
		{"stale", step{decodeShape(1, 1, 1, 4, 1), []int{2}, []float32{1}, []float32{0, ln3, nan, nan}, []float32{0, 4, nan, nan}}, []float32{3},
			"only the first two slots are filled; what lies behind must not be used, not even with a weight of 0"},
		{"scaled", step{decodeShape(1, 1, 1, 2, 4), []int{2}, []float32{1, 1, 1, 1}, []float32{0, 0, 0, 0, ln3, ln3, 0, 0}, []float32{0, 0, 0, 0, 4, 4, 4, 4}}, []float32{3, 3, 3, 3},
			"q·k is 2 ln 3 for the second key; divided by √4 that is ln 3"},
		{"two_heads", step{decodeShape(1, 2, 2, 2, 1), []int{2}, []float32{0, 0}, []float32{1, 2, 3, 4}, []float32{1, 10, 3, 20}}, []float32{2, 15},
			"a slot has the values of head 0 and head 1 side by side: head 0 has 1 and 3, head 1 has 10 and 20"},
		{"shared", step{decodeShape(1, 4, 2, 1, 1), []int{1}, []float32{0, 0, 0, 0}, []float32{1, 2}, []float32{5, 7}}, []float32{5, 5, 7, 7},
			"query heads 0 and 1 share key head 0, 2 and 3 share key head 1: h / (Heads / KVHeads)"},
		{"lengths_differ", step{decodeShape(2, 1, 1, 2, 1), []int{1, 2}, []float32{0, 0}, []float32{1, nan, 3, 4}, []float32{1, nan, 3, 5}}, []float32{1, 4},
			"sequence 0 has one token, sequence 1 has two"},
		{"large_scores", step{decodeShape(1, 1, 1, 2, 1), []int{2}, []float32{100}, []float32{9, 10}, []float32{1, 2}}, []float32{2},
			"the scores are 900 and 1000: exp overflows unless the maximum is subtracted"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := decodeOnce(t, d, call, decode, c.in, "")
			for i, want := range c.out {
				if math.Abs(float64(got[i]-want)) <= 1e-5 { // false for NaN
					continue
				}
				t.Errorf("%s of %v, lengths %v\n  q = %v\n  k = %v\n  v = %v\n  got  = %v\n  want = %v\n  hint: %s",
					call, c.in.DecodeShape, c.in.lengths, c.in.q, c.in.k, c.in.v, got, c.out, c.hint)
				return
			}
		})
	}
}

func decodeRandom(t *testing.T, d device.Device, call string, decode Decoding) {
	for _, c := range []struct {
		shape   attn.DecodeShape
		lengths []int
	}{
		{decodeShape(3, 2, 2, 17, 8), []int{17, 1, 9}},
		{decodeShape(2, 6, 2, 70, 33), []int{70, 65}},
		{decodeShape(1, 5, 1, 113, 1), []int{100}},
		{decodeShape(2, 2, 2, 257, 64), []int{200, 257}},
		{decodeShape(1, 8, 2, 130, 128), []int{129}},
	} {
		s := c.shape
		t.Run(fmt.Sprintf("%dx%dx%dx%dx%d", s.Batch, s.Heads, s.KVHeads, s.MaxSeq, s.Dim), func(t *testing.T) {
			in := randomStep(t, s, c.lengths)
			got, want := decodeOnce(t, d, call, decode, in, ""), in.float64s()
			for i, w := range want {
				if math.Abs(float64(got[i])-w) <= 1e-5 { // false for NaN
					continue
				}
				head := i / s.Dim
				t.Errorf("%s of %v, lengths %v: sequence %d, head %d, number %d: got %v, want %.6g%s",
					call, s, c.lengths, head/s.Heads, head%s.Heads, i%s.Dim, got[i], w, Unwritten(got))
				return
			}
		})
	}
}

func randomStep(t *testing.T, s attn.DecodeShape, lengths []int) step {
	q := random(t, attn.Shape{Batch: s.Batch, Heads: s.Heads, KVHeads: s.KVHeads, SeqQ: 1, SeqK: s.MaxSeq, Dim: s.Dim})
	return step{s, lengths, q.q, stale(q.k, s.CacheShape, lengths), stale(q.v, s.CacheShape, lengths)}
}

// float64s is the correct result.
func (in step) float64s() []float64 {
	out := make([]float64, len(in.q))
	for i := range in.Batch * in.Heads {
		b, h := i/in.Heads, i%in.Heads
		q, y := in.q[i*in.Dim:(i+1)*in.Dim], out[i*in.Dim:(i+1)*in.Dim]
		var sum float64
		for slot := in.First(in.lengths[b]); slot < in.lengths[b]; slot++ {
			from := (b*in.MaxSeq+slot)*in.Slot() + h/(in.Heads/in.KVHeads)*in.Dim
			var score float64
			for x := range q {
				score += float64(q[x]) * float64(in.k[from+x])
			}
			w := math.Exp(score / math.Sqrt(float64(in.Dim))) // small inputs: no overflow
			sum += w
			for x := range y {
				y[x] += w * float64(in.v[from+x])
			}
		}
		for x := range y {
			y[x] /= sum
		}
	}
	return out
}

func decodeRefuses(t *testing.T, d device.Device, call string, decode Decoding) {
	for _, c := range []struct {
		name    string
		shape   attn.DecodeShape
		lengths []int
		why     string
	}{
		{"empty", decodeShape(2, 1, 1, 4, 4), []int{3, 0}, "sequence 1 has no key to look at"},
		{"negative", decodeShape(1, 1, 1, 4, 4), []int{-1}, "there is no length of -1"},
		{"beyond", decodeShape(2, 1, 1, 4, 4), []int{5, 4}, "sequence 0 cannot have filled 5 of 4 slots"},
		{"heads", decodeShape(1, 3, 2, 4, 4), []int{2}, "3 query heads cannot share 2 key heads evenly"},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := c.shape.Elements()
			in := step{c.shape, c.lengths, counting(c.shape.Batch*c.shape.Heads*c.shape.Dim, 0), counting(n, 0), counting(n, 1)}
			got := decodeOnce(t, d, call, decode, in, c.why)
			if slices.ContainsFunc(got, func(g float32) bool { return g == g }) {
				t.Errorf("%s wrote to out although there is something wrong: %s", call, c.why)
			}
		})
	}
}

// decodeOnce runs one step and returns what it wrote.
func decodeOnce(t *testing.T, d device.Device, call string, decode Decoding, in step, refuse string) []float32 {
	t.Helper()
	q, k, v := Input(t, d, "q", in.q), Input(t, d, "cache.K", in.k), Input(t, d, "cache.V", in.v)
	out := Output(t, d, "out", len(in.q))
	if refuse != "" { // out is read although nothing may be written to it
		require.NoError(t, d.Set(out.Memory(), 0xFF)) // NaN
	}
	err := decode(out, q, attn.Cache{K: k, V: v, CacheShape: in.CacheShape}, in.DecodeShape, countsOn(t, d, "lengths", in.lengths))
	answered(t, d, call, err, refuse)
	for _, before := range []struct {
		device.Buffer[float32]
		values []float32
	}{{q, in.q}, {k, in.k}, {v, in.v}} {
		after, err := before.CopyOut(d)
		require.NoError(t, err)
		if !slices.EqualFunc(before.values, after, func(a, b float32) bool { return a == b || (a != a && b != b) }) {
			Fatal(t, d, "%s of %v: its input %s was changed", call, in.DecodeShape, before.Name())
		}
	}
	got, err := out.CopyOut(d)
	require.NoError(t, err)
	Findings(t, d)
	return got
}
