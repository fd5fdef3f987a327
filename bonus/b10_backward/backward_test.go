package backward

// The public checks: `go test ./bonus/b10_backward`. They hold gradients against finite differences of
// the attention itself, computed in float64. `make grade TASK=b10` has more and larger ones, and counts
// what is moved.

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

// example is an attention and the gradient of a loss by its output. input is q, k and v.
type example struct {
	attn.Shape
	input [3][]float64
	dOut  []float64
}

// numbers are some between -1 and 1, of 12 bits, the same in every run.
func numbers(n int, seed uint32) []float64 {
	x := make([]float64, n)
	for i := range x {
		seed = seed*1664525 + 1013904223
		x[i] = float64(int32(seed)>>20) / (1 << 11)
	}
	return x
}

func exampleOf(s attn.Shape) example {
	return example{s, [3][]float64{numbers(s.QElements(), 1), numbers(s.KVElements(), 2), numbers(s.KVElements(), 3)}, numbers(s.QElements(), 4)}
}

// row is query row of all heads: its output, and the logarithm of its sum.
func (e example) row(row int) (out []float64, lse float64) {
	head, i := row/e.SeqQ, row%e.SeqQ
	keys := (head/e.Heads*e.KVHeads + head%e.Heads/(e.Heads/e.KVHeads)) * e.SeqK
	of := func(x []float64, row int) []float64 { return x[row*e.Dim : (row+1)*e.Dim] }
	out = make([]float64, e.Dim)
	var sum float64
	for j := range e.SeqK {
		if !e.Sees(i, j) {
			continue
		}
		score, k := 0.0, of(e.input[1], keys+j)
		for x, q := range of(e.input[0], row) {
			score += q * k[x]
		}
		p := math.Exp(score / math.Sqrt(float64(e.Dim))) // inputs are small
		sum += p
		for x, v := range of(e.input[2], keys+j) {
			out[x] += p * v
		}
	}
	for x := range out {
		if sum > 0 {
			out[x] /= sum
		}
	}
	return out, math.Log(sum)
}

// loss is the sum of dOut ∘ out, with number at of one input (0 is q, 1 is k, 2 is v) larger by some.
func (e example) loss(input, at int, more float64) (loss float64) {
	before := e.input[input][at]
	defer func() { e.input[input][at] = before }()
	e.input[input][at] += more
	for row := range e.QElements() / e.Dim {
		if !e.touches(input, at/e.Dim, row) {
			continue // the same with and without
		}
		out, _ := e.row(row)
		for x, y := range out {
			loss += e.dOut[row*e.Dim+x] * y
		}
	}
	return loss
}

// touches tells whether row `from` of an input has to do with row `row` of the output.
func (e example) touches(input, from, row int) bool {
	if input == 0 {
		return from == row
	}
	head := row / e.SeqQ
	return head/e.Heads*e.KVHeads+head%e.Heads/(e.Heads/e.KVHeads) == from/e.SeqK
}

// difference is the derivative of the loss by number at of an input.
func (e example) difference(input, at int) float64 {
	const step = 1e-4
	return (e.loss(input, at, step) - e.loss(input, at, -step)) / (2 * step)
}

// kind is one of the three types, and the method for it.
type kind[T Number] struct {
	name, file string
	of         func(float32) T
	back       func(T) float32
	call       func(Gradients[T], Forward[T], device.Buffer[T], attn.Shape) error
	near       float64 // how far from finite differences a number of 1 may be
}

func inFloat32(it *Backward) kind[float32] {
	same := func(x float32) float32 { return x }
	return kind[float32]{"Float32", "backward.go", same, same, it.Float32, 1e-5}
}

// computed are dq, dk and dv, and looks at what must not have happened.
func computed[T Number](t *testing.T, d device.Device, a kind[T], e example) [3][]float32 {
	t.Helper()
	narrow := func(of []float64) (x []float32) {
		for _, y := range of {
			x = append(x, a.back(a.of(float32(y))))
		}
		return x
	}
	for _, x := range [][]float64{e.input[0], e.input[1], e.input[2], e.dOut} {
		for at, y := range narrow(x) { // finite differences are of the numbers as they are given
			x[at] = float64(y)
		}
	}
	var out []float64
	var lse []float32
	for row := range e.QElements() / e.Dim {
		y, sum := e.row(row)
		out, lse = append(out, y...), append(lse, float32(sum))
	}
	given, names := [][]float64{e.input[0], e.input[1], e.input[2], out, e.dOut}, []string{"q", "k", "v", "out", "dOut"}
	var in []device.Buffer[T]
	var bits [][]T
	for i, x := range given {
		var y []T
		for _, one := range x {
			y = append(y, a.of(float32(one)))
		}
		u, err := device.Upload(d, names[i], y)
		if err != nil {
			t.Fatal(err)
		}
		in, bits = append(in, u), append(bits, y)
	}
	var to Gradients[T]
	outputs := []*device.Buffer[T]{&to.DQ, &to.DK, &to.DV}
	for i, name := range []string{"dq", "dk", "dv"} {
		var err error
		if *outputs[i], err = device.Alloc[T](d, name, len(e.input[i])); err == nil {
			err = d.Poison(outputs[i].Memory())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	err := a.call(to, Forward[T]{in[0], in[1], in[2], in[3], attntest.Input(t, d, "lse", lse)}, in[4], e.Shape)
	if errors.Is(err, attn.ErrNotImplemented) {
		t.Fatalf("not implemented: %s in %s is still the stub (README.md says where to start)", a.name, a.file)
	}
	if err == nil {
		err = d.Sync()
	}
	if err != nil {
		attntest.Fatal(t, d, "%s: gradients of attention of %v: %v", a.name, e.Shape, err)
	}
	var got [3][]float32
	for i, b := range outputs {
		y, err := b.CopyOut(d)
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range y {
			got[i] = append(got[i], a.back(one))
		}
	}
	for i, x := range bits {
		if after, err := in[i].CopyOut(d); err != nil || !slices.Equal(after, x) {
			t.Fatalf("%s: gradients of attention of %v: its input %s was changed (%v)", a.name, e.Shape, names[i], err)
		}
	}
	attntest.Findings(t, d)
	return got
}

// check holds some 100 numbers of each gradient against finite differences.
func check[T Number](t *testing.T, d device.Device, a kind[T], s attn.Shape, hint string) {
	t.Helper()
	e := exampleOf(s)
	got := computed(t, d, a, e)
	for input, name := range []string{"dq", "dk", "dv"} {
		n := len(got[input])
		for at := 0; at < n; at += 1 + n/100 {
			g, want := float64(got[input][at]), e.difference(input, at)
			if math.Abs(g-want) <= a.near*(1+math.Abs(want)) { // false for NaN
				continue
			}
			t.Errorf("%s: gradients of attention of %v: %s, row %d, number %d: got %v, and finite differences say %.6f\n  hint: %s%s",
				a.name, s, name, at/s.Dim, at%s.Dim, g, want, hint, attntest.Unwritten(got[input]))
			break
		}
	}
}

func shapeOf(heads, kvHeads, seqQ, seqK, dim int, causal bool) attn.Shape {
	return attn.Shape{Batch: 1, Heads: heads, KVHeads: kvHeads, SeqQ: seqQ, SeqK: seqK, Dim: dim, Causal: causal}
}

// cases are of a few shapes, each with what to look at where a gradient is wrong.
var cases = []struct {
	name, hint string
	s          attn.Shape
}{
	{"one_pair", "the only probability is 1: dv is dOut, dq and dk are 0", shapeOf(1, 1, 1, 1, 64, false)},
	{"two_keys", "start with dv = Pᵀ · dOut; then dS = P ∘ (dP − D)", shapeOf(1, 1, 2, 2, 64, false)},
	{"ragged", "lengths that no tile divides: what lies behind the last query, and the last key?", shapeOf(1, 1, 17, 113, 64, false)},
	{"dim_128", "the scale is 1/√Dim, in P and once more in dq and dk", shapeOf(1, 1, 33, 40, 128, false)},
	{"grouped", "dk and dv are sums over the query heads that read a key head", shapeOf(4, 2, 5, 20, 64, false)},
	{"causal", "a pair that the mask hides has a probability of 0 here, too", shapeOf(1, 1, 40, 40, 64, true)},
	{"causal_later", "query i sees the keys 0 … i + SeqK − SeqQ", shapeOf(1, 1, 3, 50, 64, true)},
	{"blind", "a query that sees no key has an lse of −Inf, and adds nothing to any sum", shapeOf(1, 1, 20, 7, 64, true)},
}

func TestBackward(t *testing.T) {
	d := attntest.Device(t)
	it, err := New(device.QueueOf(d))
	if err != nil {
		t.Fatalf("New failed:\n%v", err)
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { check(t, d, inFloat32(it), c.s, c.hint) })
	}
}

// twice wants the same bits of two calls with the same inputs.
func twice[T Number](t *testing.T, d device.Device, a kind[T]) {
	t.Helper()
	e := exampleOf(shapeOf(2, 1, 70, 161, 64, false))
	one, two := computed(t, d, a, e), computed(t, d, a, e)
	for i, name := range []string{"dq", "dk", "dv"} {
		if !slices.Equal(one[i], two[i]) {
			t.Errorf("%s: %s has other bits in a second call: are sums made by atomics, whose order nobody knows?", a.name, name)
		}
	}
}

func TestTwice(t *testing.T) {
	d := attntest.Device(t)
	it, err := New(device.QueueOf(d))
	if err != nil {
		t.Fatalf("New failed:\n%v", err)
	}
	twice(t, d, inFloat32(it))
}

func TestRefuses(t *testing.T) {
	d := attntest.Device(t)
	it, err := New(device.QueueOf(d))
	if err != nil {
		t.Fatalf("New failed:\n%v", err)
	}
	for _, dim := range []int{32, 80, 256} {
		x, one := attntest.Input(t, d, "x", make([]float32, dim)), attntest.Input(t, d, "lse", make([]float32, 1))
		err := it.Float32(Gradients[float32]{x, x, x}, Forward[float32]{x, x, x, x, one}, x, shapeOf(1, 1, 1, 1, dim, false))
		if err == nil || errors.Is(err, attn.ErrNotImplemented) {
			t.Errorf("Dim = %d: got %v, want the error of Check", dim, fmt.Sprint(err))
		}
	}
}
