package attntest

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"flashlab/attn"
	"flashlab/device"
	"flashlab/tensor"
)

// Attention checks an implementation. blind says that it accepts queries that see
// no key.
func Attention(t *testing.T, d device.Device, k attn.Kernel, blind bool) {
	attend(t, d, k, inputs{shape(1, 1, 1, false), []float32{1}, []float32{1}, []float32{1}}) // is anything written yet?
	t.Run("by_hand", func(t *testing.T) { byHand(t, d, k) })
	t.Run("weights", func(t *testing.T) { weights(t, d, k) })
	t.Run("ones", func(t *testing.T) { ones(t, d, k) })
	if blind {
		t.Run("no_key_to_see", func(t *testing.T) { noKey(t, d, k) })
	}
}

type inputs struct {
	attn.Shape
	q, k, v []float32
}

// shape is a problem of one head.
func shape(seqQ, seqK, dim int, causal bool) attn.Shape {
	return attn.Shape{Batch: 1, Heads: 1, KVHeads: 1, SeqQ: seqQ, SeqK: seqK, Dim: dim, Causal: causal}
}

// byHand compares with values that you can work out by hand.
func byHand(t *testing.T, d device.Device, k attn.Kernel) {
	ln3 := float32(math.Log(3))
	for _, c := range []struct {
		name string
		in   inputs
		out  []float32
		hint string
	}{
		{"one_key", inputs{shape(1, 1, 2, false), []float32{3, -1}, []float32{2, 2}, []float32{5, 7}}, []float32{5, 7},
			"the only key has a weight of 1, so out is its value"},
		{"equal_keys", inputs{shape(1, 2, 2, false), []float32{1, 1}, []float32{4, 0, 0, 4}, []float32{1, 10, 3, 20}}, []float32{2, 15},
			"both scores are the same, so out is the mean of the two values"},
		{"one_to_three", inputs{shape(1, 2, 1, false), []float32{1}, []float32{0, ln3}, []float32{0, 4}}, []float32{3},
			"the scores are 0 and ln 3, so the weights are 1/4 and 3/4"},
		{"scaled", inputs{shape(1, 2, 4, false), []float32{1, 1, 1, 1}, []float32{0, 0, 0, 0, ln3, ln3, 0, 0}, []float32{0, 0, 0, 0, 4, 4, 4, 4}}, []float32{3, 3, 3, 3},
			"q·k is 2 ln 3 for the second key; divided by √4 that is ln 3"},
		{"large_scores", inputs{shape(1, 2, 1, false), []float32{100}, []float32{9, 10}, []float32{1, 2}}, []float32{2},
			"the scores are 900 and 1000: exp overflows unless the maximum is subtracted"},
		{"causal", inputs{shape(2, 2, 1, true), []float32{1, 1}, []float32{0, ln3}, []float32{8, 4}}, []float32{8, 5},
			"query 0 sees key 0 only; query 1 sees both, with weights 1/4 and 3/4"},
		{"causal_fewer_queries", inputs{shape(1, 3, 1, true), []float32{0}, []float32{1, 2, 3}, []float32{1, 2, 6}}, []float32{3},
			"the last query sees all keys: query i sees the keys 0 … i + SeqK − SeqQ"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := attend(t, d, k, c.in)
			for i, want := range c.out {
				if math.Abs(float64(got[i]-want)) <= 1e-5 { // false for NaN
					continue
				}
				t.Errorf("attention of %v\n  q = %v\n  k = %v\n  v = %v\n  got  = %v\n  want = %v\n  hint: %s%s",
					c.in.Shape, c.in.q, c.in.k, c.in.v, got, c.out, c.hint, Unwritten(got))
				return
			}
		})
	}
}

// weights uses the unit matrix as v: then out holds the weights themselves.
func weights(t *testing.T, d device.Device, k attn.Kernel) {
	for _, s := range []attn.Shape{
		shape(5, 7, 8, false),
		shape(17, 33, 33, true),
		{Batch: 2, Heads: 3, KVHeads: 3, SeqQ: 9, SeqK: 16, Dim: 20},
		{Batch: 1, Heads: 2, KVHeads: 2, SeqQ: 65, SeqK: 65, Dim: 96, Causal: true},
	} {
		t.Run(name(s), func(t *testing.T) {
			in := random(t, s)
			clear(in.v)
			for i := range in.v {
				if key, x := i/s.Dim%s.SeqK, i%s.Dim; key == x {
					in.v[i] = 1
				}
			}
			got := attend(t, d, k, in)
			for row := range len(got) / s.Dim {
				want := in.weightsOf(row)
				for key, w := range want {
					g := float64(got[row*s.Dim+key])
					if math.Abs(g-w) <= 1e-5 {
						continue
					}
					t.Errorf("attention of %v: query %d of head %d gives key %d the weight %.6g, want %.6g%s",
						s, row%s.SeqQ, row/s.SeqQ, key, g, w, Unwritten(got))
					return // one wrong weight is enough
				}
			}
		})
	}
}

// weightsOf is the softmax of one query's scores.
func (in inputs) weightsOf(row int) []float64 {
	w := make([]float64, in.SeqK)
	var sum float64
	for key := range w {
		if !in.Sees(row%in.SeqQ, key) {
			continue
		}
		var score float64
		for x := range in.Dim {
			score += float64(in.q[row*in.Dim+x]) * float64(in.k[(row/in.SeqQ*in.SeqK+key)*in.Dim+x])
		}
		w[key] = math.Exp(score / math.Sqrt(float64(in.Dim))) // small inputs: no overflow
		sum += w[key]
	}
	for key := range w {
		w[key] /= sum
	}
	return w
}

// ones sets every value to 1: weights add up to 1, so out is 1 everywhere, whatever
// the number of keys.
func ones(t *testing.T, d device.Device, k attn.Kernel) {
	for _, s := range []attn.Shape{shape(2, 300, 16, false), shape(130, 3, 5, false), shape(70, 129, 64, true), shape(3, 70, 128, false)} {
		t.Run(name(s), func(t *testing.T) {
			in := random(t, s)
			for i := range in.v {
				in.v[i] = 1
			}
			for i, g := range attend(t, d, k, in) {
				if !(math.Abs(float64(g)-1) <= 1e-5) { // true for NaN
					t.Errorf("attention of %v with ones for v: element %d of query %d is %v, want 1: a query's weights add up to 1",
						s, i%s.Dim, i/s.Dim, g)
					return
				}
			}
		})
	}
}

func noKey(t *testing.T, d device.Device, k attn.Kernel) {
	s := shape(70, 66, 8, true)
	got := attend(t, d, k, random(t, s))
	for i, g := range got[:4*s.Dim] {
		if g != 0 {
			t.Errorf("attention of %v: queries 0 to 3 see no key, so they get zeros; query %d has %v%s", s, i/s.Dim, g, Unwritten(got))
			return
		}
	}
	if got[4*s.Dim] == 0 || got[4*s.Dim] != got[4*s.Dim] {
		t.Errorf("attention of %v: query 4 sees key 0; it has %v%s", s, got[4*s.Dim], Unwritten(got))
	}
}

func random(t *testing.T, s attn.Shape) inputs {
	in := inputs{Shape: s}
	for i, x := range []*[]float32{&in.q, &in.k, &in.v} {
		n := s.KVElements()
		if i == 0 {
			n = s.QElements()
		}
		r, err := tensor.Random(tensor.Normal, 3, uint32(i), n)
		require.NoError(t, err)
		*x = r.Data
	}
	return in
}

func name(s attn.Shape) string {
	mask := ""
	if s.Causal {
		mask = "_causal"
	}
	return fmt.Sprintf("%dx%dx%dx%dx%d%s", s.Batch, s.Heads, s.SeqQ, s.SeqK, s.Dim, mask)
}

// attend runs an implementation once and returns what it wrote.
func attend(t *testing.T, d device.Device, kernel attn.Kernel, in inputs) []float32 {
	t.Helper()
	q, k, v := Input(t, d, "q", in.q), Input(t, d, "k", in.k), Input(t, d, "v", in.v)
	out := Output(t, d, "out", in.QElements())
	err := kernel.Run(out, q, k, v, in.Shape)
	if errors.Is(err, attn.ErrNotImplemented) {
		t.Fatal("not implemented: Run in attention.go is still the stub (README.md says where to start)")
	}
	if err == nil {
		err = d.Sync()
	}
	if err != nil {
		Fatal(t, d, "attention of %v: %v", in.Shape, err)
	}
	for _, before := range []struct {
		device.Buffer[float32]
		values []float32
	}{{q, in.q}, {k, in.k}, {v, in.v}} {
		after, err := before.CopyOut(d)
		require.NoError(t, err)
		if !slices.Equal(before.values, after) {
			Fatal(t, d, "attention of %v: its input %s was changed", in.Shape, before.Name())
		}
	}
	got, err := out.CopyOut(d)
	require.NoError(t, err)
	Findings(t, d)
	return got
}
