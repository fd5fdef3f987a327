package b9

import (
	"fmt"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
	"flashlab/grader/tasks/b9/sizes"
	"flashlab/nn/kit"
	"flashlab/tensor"
)

// shape is that of a small model, by the way: long enough for a full group and an open one.
func shape(way int) []int { return []int{way, 2, 37, 2, 32, 4, 2, 16, 64, 29} }

func decodingOf(t *testing.T, shape, each []int, seed uint64) *decoding {
	t.Helper()
	op := Ops[0]
	c, err := op.Case(judge.Spec{Shape: shape, Each: each, Dist: tensor.Uniform}, seed, 0)
	require.NoError(t, err)
	in, err := op.Inputs(c)
	require.NoError(t, err)
	d, err := newDecoding(c, in)
	require.NoError(t, err)
	return d
}

func (d *decoding) rule(t *testing.T, got []float32) judge.Ruling {
	t.Helper()
	in := tensor.New(d.Batch, d.steps())
	for b, tokens := range d.tokens {
		for i, n := range tokens {
			in.Data[b*d.steps()+i] = 2*(float32(n)+0.5)/float32(d.Vocabulary) - 1
		}
	}
	out := tensor.New(d.Batch, d.steps(), d.Vocabulary)
	copy(out.Data, got)
	return judgeModel(d.Problem, []*tensor.Tensor{in}, problem.Answer{Tensors: []*tensor.Tensor{out}})
}

// Plain float32 passes, whatever the seed; what is known to be wrong does not, and is named.
func TestModel(t *testing.T) {
	seeds := uint64(3)
	if os.Getenv("FLASHLAB_ALL") != "" {
		seeds = 200
	}
	for way := 1; way <= len(sizes.Ways); way++ {
		var worst float64
		for seed := range seeds {
			for _, d := range []*decoding{decodingOf(t, shape(way), []int{37, 20}, seed), decodingOf(t, []int{way, 1, 1, 1, 32, 1, 1, 32, 32, 5}, []int{1}, seed)} {
				truth := d.truth()
				j := truth.Judge(truth.Plain)
				worst = max(worst, j.Error)
				assert.LessOrEqual(t, j.Error, truth.Least, "%v, seed %d", d.way, seed)
			}
		}
		t.Logf("%v: float32 at worst %.2g", sizes.Ways[way-1], worst)
	}
}

func TestSlips(t *testing.T) {
	for way := 1; way <= len(sizes.Ways); way++ {
		d := decodingOf(t, shape(way), []int{37, 20}, 7)
		truth := d.truth()
		for i, s := range []slip{{noFirst: true}, {noSecond: true}, {firstNorms: true}, {exchanged: true}, {oneCache: true}, {unrotated: true},
			{neighbour: true}, {still: true}, {noLast: true}, {halfWeights: true}, {halfCache: true}, {openToo: true}} {
			if s.halfWeights && !d.way.INT4 || (s.halfCache || s.openToo) && !d.way.KIVI {
				continue
			}
			got := judge.Narrow(logits[float64](d, s))
			j := truth.Judge(got)
			t.Logf("%v, slip %d: %.2g of %.2g", d.way, i, j.Error, j.Bound)
			v := d.rule(t, got)
			assert.False(t, v.Passed, "%v, slip %d", d.way, i)
			assert.NotEmpty(t, v.Reason, "%v, slip %d", d.way, i)
		}
		got := logits[float32](d, slip{})
		got[len(got)-1] = float32(math.NaN())
		assert.False(t, d.rule(t, got).Passed, "a NaN")
	}
}

// The formula is that of the formats: a cache of four bits has 0.32 of halves here, weights 0.28.
func TestReads(t *testing.T) {
	c := llama(16, 8192)
	halves, both := readsOf(c, sizes.Way{}, 8192), readsOf(c, sizes.Way{KIVI: true, INT4: true}, 8192)
	assert.InDelta(t, 32*(6144+4096+3*14336)*4096*2.0, halves.matrices, 1)
	assert.InDelta(t, 32*16*8*8192*128*4.0, halves.cache, 1)
	assert.InDelta(t, 4.5/16, both.matrices/halves.matrices, 1e-12)
	assert.InDelta(t, (128+4*128/16.0+4)/(4*128), both.cache/halves.cache, 1e-12)
	open := readsOf(c, sizes.Way{KIVI: true}, 15)
	assert.Equal(t, readsOf(c, sizes.Way{}, 15), open, "an open group is in halves")
}

func TestSheet(t *testing.T) {
	for _, w := range workloads {
		c := llama(w.batch, w.tokens)
		h := readsOf(c, sizes.Way{}, w.tokens)
		line := func(share, faster float64) []float64 {
			return []float64{share, faster, amdahl(predicted{share, faster, 0})}
		}
		k, i := line(h.cache/h.all(), 2), line(h.matrices/h.all(), 3)
		good := judge.Narrow(slices.Concat(line(0.9, 10), k, i, []float64{amdahl(predicted{k[0], k[1], 0}, predicted{i[0], i[1], 0})}))
		require.Empty(t, faults(w.batch, w.tokens, good))
		assert.Contains(t, faults(w.batch, w.tokens, make([]float32, 10)), "not filled in")
		for at := range good {
			for _, bad := range []float32{0, -1, 1000, float32(math.NaN()), float32(math.Inf(1)), good[at] * 1.5, good[at] * 0.5} {
				if (at == 4 || at == 7) && bad == 1000 {
					bad = 4
				}
				other := slices.Clone(good)
				other[at] = bad
				assert.NotEmpty(t, faults(w.batch, w.tokens, other), fmt.Sprintf("number %d is %v", at, bad))
			}
		}
	}
}

// Beyond the formula there is less room than a second copy of anything would take.
func TestMost(t *testing.T) {
	c := kit.Config{Batch: 4, Slots: 64, Layers: 4, Hidden: 64, Heads: 2, KVHeads: 2, Dim: 32, MLP: 96, Vocabulary: 17}
	matrices := uint64(2 * c.Layers * (c.Elements(kit.QKV) + c.Elements(kit.Out) + c.Elements(kit.GateUp) + c.Elements(kit.Down)))
	all := Most(c, sizes.Way{KIVI: true, INT4: true})
	assert.Less(t, all, Most(c, sizes.Way{KIVI: true}))
	assert.Less(t, all, Most(c, sizes.Way{INT4: true}))
	assert.Less(t, Most(c, sizes.Way{INT4: true}), Most(c, sizes.Way{})+matrices/2)
}
