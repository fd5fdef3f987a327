package codes

// The public checks: `go test ./bonus/b3_int8`. They are few and small; `make grade TASK=b3` has
// more and larger ones, and counts what is moved.

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"flashlab/attn"
	"flashlab/attn/attntest"
	"flashlab/device"
	"flashlab/tensor"
)

// example is an attention and its inputs, which are float16 numbers.
type example struct {
	attn.Shape
	q, k, v []float32
}

// exampleOf has normal numbers, and k those of a distribution.
func exampleOf(heads, kvHeads, seqQ, seqK, dim int, causal bool, keys tensor.Dist) example {
	e := example{Shape: attn.Shape{Batch: 1, Heads: heads, KVHeads: kvHeads, SeqQ: seqQ, SeqK: seqK, Dim: dim, Causal: causal}}
	for i, x := range []struct {
		to   *[]float32
		n    int
		dist tensor.Dist
	}{{&e.q, e.QElements(), tensor.Normal}, {&e.k, e.KVElements(), keys}, {&e.v, e.KVElements(), tensor.Normal}} {
		*x.to = make([]float32, x.n)
		if err := tensor.FillAs(tensor.Float16, *x.to, x.dist, 7, uint32(i), 0); err != nil {
			panic(err)
		}
	}
	return e
}

// attention is what out should be, in float64.
func (e example) attention(q, k, v []float64) []float64 {
	out := make([]float64, len(q))
	for row := range len(q) / e.Dim {
		head, i := row/e.SeqQ, row%e.SeqQ
		keys := head / (e.Heads / e.KVHeads) * e.SeqK
		p, largest, sum := make([]float64, e.SeqK), math.Inf(-1), 0.0
		for j := range p {
			for x := range e.Dim {
				p[j] += q[row*e.Dim+x] * k[(keys+j)*e.Dim+x] / math.Sqrt(float64(e.Dim))
			}
			if e.Sees(i, j) {
				largest = max(largest, p[j])
			}
		}
		for j := range p {
			if !e.Sees(i, j) {
				continue
			}
			w := math.Exp(p[j] - largest)
			sum += w
			for x := range e.Dim {
				out[row*e.Dim+x] += w * v[(keys+j)*e.Dim+x]
			}
		}
		for x := range e.Dim {
			if sum > 0 {
				out[row*e.Dim+x] /= sum
			}
		}
	}
	return out
}

// apart is the root of the mean square of the difference, relative to want's.
func apart(got, want []float64) float64 {
	var diff, size float64
	for i, w := range want {
		diff += (got[i] - w) * (got[i] - w)
		size += w * w
	}
	return math.Sqrt(diff / max(size, 1e-30))
}

func made(t *testing.T) (device.Device, *Int8) {
	d := attntest.Device(t)
	it, err := New(device.QueueOf(d))
	if err != nil {
		t.Fatalf("New failed:\n%v", err)
	}
	return d, it
}

var cases = []struct {
	name, hint string
	e          example
}{
	{"one_key", "the only key has a weight of 1, so out is its value", exampleOf(1, 1, 1, 1, 64, false, tensor.Normal)},
	{"one_tile", "a tile of 16 × 8 scores: is the product of 32 codes right?", exampleOf(1, 1, 16, 16, 64, false, tensor.Normal)},
	{"ragged", "lengths that no tile divides: what lies behind the last key?", exampleOf(1, 1, 17, 113, 64, false, tensor.Normal)},
	{"dim_128", "a row of codes is 128 bytes now", exampleOf(1, 1, 70, 40, 128, false, tensor.Normal)},
	{"outliers", "the means of k's columns are large", exampleOf(1, 1, 33, 150, 64, false, tensor.Columns)},
	{"grouped", "query head h reads key head h / (Heads / KVHeads), and its scales", exampleOf(4, 2, 5, 80, 64, false, tensor.Normal)},
	{"causal", "query i sees the keys 0 … i + SeqK − SeqQ", exampleOf(1, 1, 70, 90, 64, true, tensor.Normal)},
	{"blind", "a query that sees no key gets zeros", exampleOf(1, 1, 20, 7, 64, true, tensor.Normal)},
}

func TestPerTensor(t *testing.T) { testWay(t, made, perTensor) }
func TestByBlock(t *testing.T)   { testWay(t, made, byBlock) }

// testWay holds out against attention of what the codes stand for, and these against the inputs.
func testWay(t *testing.T, made maker, run way) {
	d, it := made(t)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := run(t, d, it, c.e)
			if off := apart(r.out, c.e.attention(r.q, r.k, r.v)); !(off < 1e-3) { // true for NaN
				t.Errorf("out is %.2g off attention of what the codes stand for, and 0.001 is allowed\n  hint: %s", off, c.hint)
			}
			for _, x := range []struct {
				name      string
				got, want []float64
			}{{"q", r.q, wide(c.e.q)}, {"k", r.k, wide(c.e.k)}, {"v", r.v, wide(c.e.v)}} {
				if off := apart(x.got, x.want); !(off < 0.05) {
					t.Errorf("what the codes of %s stand for is %.2g off %s, and 0.05 is allowed: is each rounded to the nearest, and scale, zero and mean as the contract has them?", x.name, off, x.name)
				}
			}
		})
	}
}

// TestNaN: what is not a number must not become one.
func TestNaN(t *testing.T) { nan(t, made) }

func nan(t *testing.T, made maker) {
	d, it := made(t)
	for _, bad := range []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1))} {
		for i, run := range []way{perTensor, byBlock} {
			for which := range 3 {
				e := exampleOf(1, 1, 3, 20, 64, false, tensor.Normal)
				[][]float32{e.q, e.k, e.v}[which][70] = bad
				out := run(t, d, it, e).out
				from, to := 0, len(out) // all that is computed with its scale
				if which == 2 && i == 1 {
					from, to = 6, 7 // v in halves: its column
				}
				for _, x := range out[from:to] {
					if x == x && !math.IsInf(x, 0) {
						t.Errorf("%s with %v in %c: out has %v\n  hint: fmaxf forgets a NaN; a scale must not", []string{"PerTensor", "ByBlock"}[i], bad, "qkv"[which], x)
						break
					}
				}
			}
		}
	}
}

func TestRefuses(t *testing.T) {
	d, it := made(t)
	for _, dim := range []int{32, 80, 256} {
		e := exampleOf(1, 1, 1, 1, dim, false, tensor.Normal)
		x, c, f := upload(t, d, "x", e.q), unwritten[int8](t, d, "codes", dim), unwritten[float32](t, d, "numbers", 6)
		for name, err := range map[string]error{
			"PerTensor": it.PerTensor(x, x, x, x, TensorCodes{c, c, c, f}, e.Shape),
			"ByBlock":   it.ByBlock(x, x, x, x, BlockCodes{c, c, f, f, f}, e.Shape),
		} {
			if err == nil || errors.Is(err, attn.ErrNotImplemented) {
				t.Errorf("%s, Dim = %d: got %v, want the error of Check", name, dim, fmt.Sprint(err))
			}
		}
	}
}

// TestWhatRoundingCosts measures what the codes cost, whatever computes with them: run it with -v.
func TestWhatRoundingCosts(t *testing.T) {
	d, it := made(t)
	off := map[string]float64{}
	t.Logf("%-10s %-10s %12s %12s %12s", "k", "codes", "1 − cosine", "relative L1", "RMS")
	for _, keys := range []tensor.Dist{tensor.Normal, tensor.Columns} {
		e := exampleOf(1, 1, 128, 192, 64, false, keys)
		want := e.attention(wide(e.q), wide(e.k), wide(e.v))
		for i, run := range []way{perTensor, byBlock} {
			name, out := []string{"per tensor", "by block"}[i], run(t, d, it, e).out
			var dot, gg, ww, l1, l1w float64
			for i, w := range want {
				g := out[i]
				dot, gg, ww = dot+g*w, gg+g*g, ww+w*w
				l1, l1w = l1+math.Abs(g-w), l1w+math.Abs(w)
			}
			off[string(keys)+name] = apart(out, want)
			t.Logf("%-10s %-10s %12.2g %12.2g %12.2g", keys, name, 1-dot/math.Sqrt(gg*ww), l1/l1w, apart(out, want))
		}
	}
	if !(off["columnsby block"] < off["columnsper tensor"]/4) {
		t.Errorf("with outliers, by block is not much better than per tensor: %v", off)
	}
}
