package tiled

// The public checks: `go test ./task3_tiled_go`. They are small and quick;
// `make grade TASK=3` has more and larger ones.

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"flashlab/attn"
	"flashlab/hbm"
	"flashlab/tensor"
)

// problem is one call of Forward.
type problem struct {
	seqQ, seqK, dim int
	br, bc          int
	sram            int // bytes; 0 for the room that the contract promises
	causal          bool
}

func (p problem) String() string {
	mask := "full"
	if p.causal {
		mask = "causal"
	}
	return fmt.Sprintf("q [%d, %d], k and v [%d, %d], %s, br = %d, bc = %d", p.seqQ, p.dim, p.seqK, p.dim, mask, p.br, p.bc)
}

// room is the SRAM that the contract of Forward promises.
func (p problem) room() int {
	if p.sram > 0 {
		return p.sram
	}
	return 4 * (5*max(p.br, p.bc)*p.dim + 2*p.br*p.bc + 8*p.br)
}

// outcome is what a call left behind.
type outcome struct {
	o       []float32
	traffic hbm.Traffic
	err     error
}

var unwritten = float32(math.NaN())

// forward runs the student's code on a fresh machine.
func forward(t *testing.T, p problem, q, k, v []float32) outcome {
	t.Helper()
	machine := hbm.New(p.room())
	input := func(name string, rows int, data []float32) *hbm.Matrix {
		x, err := machine.Input(name, rows, p.dim, data)
		require.NoError(t, err)
		return x
	}
	o, err := machine.Output("o", p.seqQ, p.dim, unwritten)
	require.NoError(t, err)
	sram := machine.SRAM()
	err = Forward(sram, o, input("q", p.seqQ, q), input("k", p.seqK, k), input("v", p.seqK, v), p.br, p.bc, p.causal)
	if errors.Is(err, attn.ErrNotImplemented) {
		t.Fatal("not implemented: Forward in attention.go is still the stub (README.md says where to start)")
	}
	if err == nil && sram.Err() != nil {
		err = fmt.Errorf("%w (Forward did not say so: end with return sram.Err())", sram.Err())
	}
	got, failed := machine.Contents(o)
	require.NoError(t, failed)
	return outcome{got, machine.Traffic(), err}
}

func random(t *testing.T, stream uint32, rows, dim int) []float32 {
	t.Helper()
	x, err := tensor.Random(tensor.Normal, 4, stream, rows, dim)
	require.NoError(t, err)
	return x.Data
}

// plain is task 1's attention for one head, in float64.
func plain(p problem, q, k, v []float32) []float64 {
	o := make([]float64, p.seqQ*p.dim)
	for i := range p.seqQ {
		seen := p.seqK
		if p.causal {
			seen = i + 1 + p.seqK - p.seqQ
		}
		weights, largest, sum := make([]float64, seen), math.Inf(-1), 0.0
		for j := range weights {
			for c := range p.dim {
				weights[j] += float64(q[i*p.dim+c]) * float64(k[j*p.dim+c])
			}
			weights[j] /= math.Sqrt(float64(p.dim))
			largest = max(largest, weights[j])
		}
		for j := range weights {
			weights[j] = math.Exp(weights[j] - largest)
			sum += weights[j]
		}
		for j, w := range weights {
			for c := range p.dim {
				o[i*p.dim+c] += w / sum * float64(v[j*p.dim+c])
			}
		}
	}
	return o
}

// check runs a problem on random inputs and compares.
func check(t *testing.T, p problem, hint string) (outcome, bool) {
	t.Helper()
	q, k, v := random(t, 0, p.seqQ, p.dim), random(t, 1, p.seqK, p.dim), random(t, 2, p.seqK, p.dim)
	return compare(t, p, q, k, v, hint)
}

func compare(t *testing.T, p problem, q, k, v []float32, hint string) (outcome, bool) {
	t.Helper()
	got := forward(t, p, q, k, v)
	if got.err != nil {
		t.Errorf("%v\n  %v", p, got.err)
		return got, false
	}
	for i, want := range plain(p, q, k, v) {
		if g := float64(got.o[i]); !(math.Abs(g-want) <= 1e-5*math.Max(1, math.Abs(want))) { // true for NaN
			note := ""
			if math.IsNaN(g) {
				note = "\n  (NaN may also mean that it was never written)"
			}
			t.Errorf("%v\n  o[%d][%d] = %.6g, want %.6g%s\n  hint: %s", p, i/p.dim, i%p.dim, g, want, note, hint)
			return got, false
		}
	}
	return got, true
}

func TestForward(t *testing.T) {
	for _, c := range []struct {
		name string
		p    problem
		hint string
	}{
		{"one_tile", problem{seqQ: 4, seqK: 4, dim: 3, br: 4, bc: 4}, "all in one tile: this is task 1 with other means. The scale is 1/√dim"},
		{"blocks_of_queries", problem{seqQ: 6, seqK: 4, dim: 3, br: 2, bc: 4}, "several blocks of queries, one of keys: does each start afresh?"},
		{"blocks_of_keys", problem{seqQ: 4, seqK: 8, dim: 3, br: 4, bc: 2}, "several blocks of keys: when the maximum grows, what was gathered before has to be brought to the new one"},
		{"last_tiles_are_smaller", problem{seqQ: 7, seqK: 5, dim: 3, br: 3, bc: 2}, "br and bc need not divide the lengths: see Part"},
		{"tiles_larger_than_matrices", problem{seqQ: 3, seqK: 5, dim: 2, br: 16, bc: 16}, "br and bc may be larger than the matrices"},
		{"single_rows", problem{seqQ: 5, seqK: 5, dim: 4, br: 1, bc: 1}, "tiles of one row: see the hints of the two above"},
	} {
		t.Run(c.name, func(t *testing.T) { check(t, c.p, c.hint) })
	}
}

func TestForwardWithLargeScores(t *testing.T) {
	p := problem{seqQ: 2, seqK: 4, dim: 1, br: 2, bc: 1}
	hint := "subtract the largest score so far before Exp; it may be in the first tile of keys or in the last"
	compare(t, p, []float32{1, -1}, []float32{-300, 100, 300, 200}, []float32{1, 2, 3, 4}, hint)
}

func TestForwardCausal(t *testing.T) {
	for _, c := range []struct {
		name string
		p    problem
		hint string
	}{
		{"one_tile", problem{seqQ: 4, seqK: 4, dim: 3, br: 4, bc: 4, causal: true}, "query i sees the keys 0 … i: Mask(0) for a tile on the diagonal"},
		{"tiles", problem{seqQ: 8, seqK: 8, dim: 3, br: 3, bc: 2, causal: true}, "the diagonal lies elsewhere in each tile: what is i, and what is j, counted from the matrices' first rows?"},
		{"more_keys_than_queries", problem{seqQ: 3, seqK: 8, dim: 3, br: 2, bc: 3, causal: true}, "query i sees the keys 0 … i + seqK - seqQ"},
	} {
		t.Run(c.name, func(t *testing.T) {
			check(t, c.p, c.hint)
		})
	}
}

// TestForwardSkips counts what is read for a causal mask: about half.
func TestForwardSkips(t *testing.T) {
	p := problem{seqQ: 64, seqK: 64, dim: 4, br: 8, bc: 8}
	full, ok := check(t, p, "see TestForward first")
	if !ok {
		return
	}
	p.causal = true
	causal, ok := check(t, p, "see TestForwardCausal first")
	if ok && float64(causal.traffic.Read) > 0.65*float64(full.traffic.Read) {
		t.Errorf("%v\n  %d bytes were read; without the mask %d\n  hint: tiles of keys that no query of the block sees need not be loaded",
			p, causal.traffic.Read, full.traffic.Read)
	}
}
