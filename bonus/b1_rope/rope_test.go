package rope

// The public checks: `go test ./bonus/b1_rope`. They are few and small; `make grade
// TASK=b1` has more and larger ones, and counts what is moved.

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"flashlab/attn"
	"flashlab/attn/attntest"
	"flashlab/device"
)

// call is one call for one head of 8 dimensions. Rows of q and k are unit vectors times
// a number: only pair 0 is not zero, which turns by one radian for each position,
// whatever the base.
type call struct {
	Rotation
	start, seqQ, seqK int
	causal            bool
	q, k, v           []float32
}

const dim = 8

// one is x[0] = 1: the first number of pair 0 in both pairings.
func one(rows int) []float32 {
	x := make([]float32, rows*dim)
	for i := range rows {
		x[i*dim] = 1
	}
	return x
}

// numbered are values that tell keys apart: 0, 1, 2 …
func numbered(rows int) []float32 {
	x := make([]float32, rows*dim)
	for i := range x {
		x[i] = float32(i / dim)
	}
	return x
}

// run computes, and looks at what must not have happened.
func (c call) run(t *testing.T, d device.Device, it *Rope) []float32 {
	t.Helper()
	s := attn.Shape{Batch: 1, Heads: 1, KVHeads: 1, SeqQ: c.seqQ, SeqK: c.seqK, Dim: dim, Causal: c.causal}
	on, err := device.Upload(d, "start", []int32{int32(c.start)})
	if err != nil {
		t.Fatal(err)
	}
	q, k, v := attntest.Input(t, d, "q", c.q), attntest.Input(t, d, "k", c.k), attntest.Input(t, d, "v", c.v)
	out := attntest.Output(t, d, "out", c.seqQ*dim)
	err = it.Run(out, q, k, v, attn.PerSequence{Host: []int{c.start}, Device: on}, s, c.Rotation)
	if errors.Is(err, attn.ErrNotImplemented) {
		t.Fatal("not implemented: Run in rope.go is still the stub (README.md says where to start)")
	}
	if err == nil {
		err = d.Sync()
	}
	if err != nil {
		attntest.Fatal(t, d, "attention of %v: %v", s, err)
	}
	for name, b := range map[string]struct {
		device.Buffer[float32]
		before []float32
	}{"q": {q, c.q}, "k": {k, c.k}, "v": {v, c.v}} {
		if after, err := b.CopyOut(d); err != nil || !slices.Equal(after, b.before) {
			t.Fatalf("attention of %v: its input %s was changed (%v): nothing rotated goes to device memory", s, name, err)
		}
	}
	got, err := out.CopyOut(d)
	if err != nil {
		t.Fatal(err)
	}
	attntest.Findings(t, d)
	return got
}

// want is the weighted sum of the values 0, 1, 2 …, where the key at position j has the
// score cos(position − j) / √8.
func want(position, keys int) float64 {
	var sum, weighted float64
	for j := range keys {
		weight := math.Exp(math.Cos(float64(position-j)) / math.Sqrt(dim))
		sum, weighted = sum+weight, weighted+weight*float64(j)
	}
	return weighted / sum
}

func TestRope(t *testing.T) {
	d := attntest.Device(t)
	it, err := New(device.QueueOf(d))
	if err != nil {
		t.Fatalf("New failed:\n%v", err)
	}
	for _, c := range []struct {
		name, hint string
		call
	}{
		{"one_key", "the only key has a weight of 1, so out is its value: 0", call{start: 3, seqQ: 1, seqK: 1}},
		{"two_keys", "query 0 has position 1: its angles to keys 0 and 1 are 1 and 0", call{start: 1, seqQ: 1, seqK: 2}},
		{"start", "query i has position 7 + i, key j position j", call{start: 7, seqQ: 5, seqK: 9}},
		{"tiles", "is the position of a later tile's row right?", call{start: 0, seqQ: 130, seqK: 150}},
		{"causal", "query i sees the keys 0 … i", call{start: 0, seqQ: 70, seqK: 70, causal: true}},
		{"causal_start", "query i sees the keys 0 … 2 + i", call{start: 2, seqQ: 3, seqK: 9, causal: true}},
		{"far", "an angle of 100000 has few bits left in float32: keep the fraction of a turn", call{start: 100000, seqQ: 2, seqK: 3}},
	} {
		for _, neighbours := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/neighbours=%v", c.name, neighbours), func(t *testing.T) {
				c.Rotation = Rotation{Base: 10000, Neighbours: neighbours}
				c.q, c.k, c.v = one(c.seqQ), one(c.seqK), numbered(c.seqK)
				got := c.run(t, d, it)
				for i, g := range got {
					position, keys := c.start+i/dim, c.seqK
					if c.causal {
						keys = min(keys, position+1)
					}
					if w := want(position, keys); !(math.Abs(float64(g)-w) <= 1e-5*float64(c.seqK)) { // true for NaN
						t.Fatalf("query %d, number %d: got %v, want %.6f\n  q and k are 1 in pair 0, which turns by 1 radian a position; key j has the value j\n  hint: %s", i/dim, i%dim, g, w, c.hint)
					}
				}
			})
		}
	}
}

// TestPairs: the second number of pair 0 is x[4] or x[1], and a rotation turns it towards
// the first with a minus.
func TestPairs(t *testing.T) {
	d := attntest.Device(t)
	it, err := New(device.QueueOf(d))
	if err != nil {
		t.Fatalf("New failed:\n%v", err)
	}
	for _, neighbours := range []bool{false, true} {
		second := dim / 2
		if neighbours {
			second = 1
		}
		c := call{Rotation: Rotation{10000, neighbours}, start: 1, seqQ: 1, seqK: 2, q: one(1), k: one(2), v: numbered(2)}
		c.k[0], c.k[second] = 0, 1 // key 0 is (0, 1), key 1 is (1, 0): the scores are sin 1 and 1
		one := math.Exp(1 / math.Sqrt(dim))
		w := one / (one + math.Exp(math.Sin(1)/math.Sqrt(dim)))
		if got := c.run(t, d, it); !(math.Abs(float64(got[0])-w) <= 1e-5) {
			t.Errorf("Neighbours = %v: got %v, want %.6f\n  hint: (a, b) becomes (a·cos − b·sin, b·cos + a·sin), and b is x[%d]", neighbours, got[0], w, second)
		}
	}
}

func TestRefuses(t *testing.T) {
	d := attntest.Device(t)
	it, err := New(device.QueueOf(d))
	if err != nil {
		t.Fatalf("New failed:\n%v", err)
	}
	on, err := device.Upload(d, "start", []int32{-1})
	if err != nil {
		t.Fatal(err)
	}
	x := attntest.Input(t, d, "x", one(1))
	out := attntest.Output(t, d, "out", dim)
	s := attn.Shape{Batch: 1, Heads: 1, KVHeads: 1, SeqQ: 1, SeqK: 1, Dim: dim}
	err = it.Run(out, x, x, x, attn.PerSequence{Host: []int{-1}, Device: on}, s, Rotation{Base: 10000})
	if err == nil || errors.Is(err, attn.ErrNotImplemented) {
		t.Errorf("a start of -1: got %v, want the error of Rotation.Check", err)
	}
}
