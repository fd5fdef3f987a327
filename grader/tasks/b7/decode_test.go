package b7

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/judge/judgetest"
	"flashlab/grader/grading/problem"
	"flashlab/grader/tasks/shared"
	"flashlab/tensor"
)

// steps are the shapes to try: [batch, heads, kvheads, slots, dim], and lengths.
var steps = []judge.Spec{
	{Shape: []int{1, 1, 1, 32, 64}, Each: []int{1}, Dist: tensor.Normal},
	{Shape: []int{3, 4, 2, 128, 64}, Each: []int{113, 0, 64}, Dist: tensor.Normal},
	{Shape: []int{1, 8, 2, 160, 128}, Each: []int{150}, Dist: tensor.Normal},
	{Shape: []int{1, 2, 1, 1024, 64}, Each: []int{999}, Dist: tensor.Normal},
	{Shape: []int{2, 2, 1, 288, 64}, Each: []int{257, 200}, Dist: tensor.Large},
	{Shape: []int{1, 2, 2, 160, 64}, Each: []int{128}, Dist: tensor.Equal},
}

func giveStep(t *testing.T, bits int, s judge.Spec, seed uint64) (judgetest.Prepared, decoding) {
	p := judgetest.Prepare(t, decodeOp(bits), s, seed)
	return p, decoding{p.C, cacheOf(bits, p.C.Cache(), p.In[1:]), p.In[0].Data, p.C.Each}
}

// inParts is what kernels do that share a query's keys out. p rounds weights; values of 8 bits may be rounded to halves
// before they are multiplied.
func inParts(d shared.MixedDecoding, parts int, p, value func(float32) float32) (out []float32) {
	rows := shared.CacheRows(d.S, d.Lengths)
	for row := range d.S.Batch * d.S.Heads {
		var k, v []float32
		for _, at := range rows(row/d.S.Heads, row%d.S.Heads) {
			k, v = append(k, d.K[at:at+d.S.Dim]...), append(v, d.V[at:at+d.S.Dim]...)
		}
		out = append(out, judgetest.InParts(d.Q[row*d.S.Dim:(row+1)*d.S.Dim], k, v, parts, p, value)...)
	}
	tensor.Float16.Round(out)
	return out
}

// TestMixedPrecisionPassesAndShortcutsDoNot: weights and values may be halves, whatever the number of
// parts; no sum or score may, and no key of 8 bits.
func TestMixedPrecisionPassesAndShortcutsDoNot(t *testing.T) {
	none, narrow := func(x float32) float32 { return x }, shared.Rounder(tensor.Float16)
	for _, bits := range []int{8, 4} {
		for i, s := range steps {
			for seed := range uint64(2) {
				e, d := giveStep(t, bits, s, seed)
				right := d.read(reading{})
				for _, parts := range []int{1, 3, 32} {
					assert.True(t, e.Judge(t, inParts(right, parts, narrow, narrow)).Passed, "INT%d, step %d, %d parts, seed %d", bits, i, parts, seed)
					assert.True(t, e.Judge(t, inParts(right, parts, none, none)).Passed, "INT%d, step %d, %d parts in float32", bits, i, parts)
				}
				if s.Dist != tensor.Normal || s.Shape[3] < 100 || seed > 0 {
					continue
				}
				sums, scores := shared.PlainWay(tensor.Float16), shared.PlainWay(tensor.Float16)
				sums.Sum, scores.Score = narrow, narrow
				if s.Shape[3] > 500 {
					scores = sums // of so many keys, errors of single scores are no more than those of weights
				}
				for says, w := range map[string]shared.Way{"sums were kept in 16 bits": sums, "scores were rounded to 16 bits": scores} {
					j := e.Judge(t, right.Compute(w))
					if assert.False(t, j.Passed, "INT%d, step %d: %s", bits, i, says) && s.Shape[3] <= 500 {
						assert.Contains(t, j.Reason, says)
					}
				}
			}
		}
	}
}

func TestMisreadingsAreRecognised(t *testing.T) {
	for _, bits := range []int{8, 4} {
		e, d := giveStep(t, bits, judge.Spec{Shape: []int{2, 4, 2, 160, 64}, Each: []int{150, 75}, Dist: tensor.Normal}, 3)
		right := d.read(reading{})
		exact := judge.Narrow(right.Truth().Want)
		assert.True(t, e.Judge(t, exact).Passed)
		known := 0
		for i, m := range d.misreadings(right) {
			out := judge.Narrow(m.Whole())
			if slices.ContainsFunc(out, func(v float32) bool { return v != v }) {
				continue // it reads what was never written
			}
			tensor.Float16.Round(out)
			r := e.Judge(t, out)
			if i%3 == 0 { // of K and V
				assert.False(t, r.Passed, "INT%d: %s", bits, m.Says)
				assert.Equal(t, m.Says, r.Reason, "INT%d", bits)
				known++
			} else if !r.Passed { // of one alone
				both, _, _ := strings.Cut(m.Says, " (")
				assert.Contains(t, r.Reason, both, "INT%d, %s", bits, m.Says)
			}
		}
		assert.Greater(t, known, 3)
	}
}

func TestMistakesOfDecodingAreRecognised(t *testing.T) {
	for _, bits := range []int{8, 4} {
		e, d := giveStep(t, bits, judge.Spec{Shape: []int{3, 4, 2, 160, 64}, Each: []int{150, 150, 0}, Dist: tensor.Normal}, 3)
		right := d.read(reading{})
		want := judge.Narrow(right.Truth().Want)
		known := 0
		for i, m := range right.Mistakes() {
			out := judgetest.Shown(m)
			if slices.Equal(out, want) || slices.ContainsFunc(out, func(v float32) bool { return v != v }) {
				continue // it makes no difference here, or reads what was never written
			}
			tensor.Float16.Round(out)
			if r := e.Judge(t, out); !r.Passed {
				assert.NotContains(t, r.Reason, "wrong values in ", "INT%d, mistake %d: %s", bits, i, m.Says)
				known++
			}
		}
		assert.Greater(t, known, 10)
		if bits == 4 {
			out := judgetest.Shown(d.closedAlone(right))
			tensor.Float16.Round(out)
			assert.Contains(t, e.Judge(t, out).Reason, "the open group is left out")
		}
		assert.Contains(t, e.Judge(t, make([]float32, len(want))).Reason, "every element is 0")
		bad, _ := tensor.Float16.Unwritten()
		unwritten := slices.Clone(want)
		unwritten[5] = math.Float32frombits(bad)
		assert.Contains(t, e.Judge(t, unwritten).Reason, "never written")
	}
}

func TestNaNTellsWhatHadNoKey(t *testing.T) {
	e, d := giveStep(t, 4, judge.Spec{Shape: []int{3, 2, 1, 1024, 64}, Each: []int{700, 0, 20}, Dist: tensor.Normal}, 3)
	in := func(sequence int) string {
		y := judge.Narrow(d.read(reading{}).Truth().Want)
		tensor.Float16.Round(y)
		for i := range 2 * 64 {
			y[sequence*2*64+i] = float32(math.NaN())
		}
		return e.Judge(t, y).Reason
	}
	assert.Contains(t, in(1), "NaN where a sequence has no key")
	assert.Contains(t, in(2), "NaN")
	e, d = giveStep(t, 4, judge.Spec{Shape: []int{2, 2, 1, 1024, 64}, Each: []int{700, 20}, Dist: tensor.Normal}, 3)
	assert.Contains(t, in(1), "the merge of an empty part")
	e, d = giveStep(t, 4, judge.Spec{Shape: []int{2, 2, 1, 1024, 64}, Each: []int{704, 20}, Dist: tensor.Normal}, 3)
	assert.Contains(t, in(1), "the tail is read as INT4")
}

// TestTurns: the cache that a sequence has after it began anew is that of its last tokens.
func TestTurns(t *testing.T) {
	for _, bits := range []int{8, 4} {
		op := turnsOp(bits)
		p := judgetest.Prepare(t, op, judge.Spec{Shape: []int{2, 2, 1, 64, 64, 40}, Each: []int{33, 7}, Dist: tensor.Normal}, 3)
		n := 1 + count(bits)
		d := decoding{p.C, cacheOf(bits, p.C.Cache(), p.In[1:n]).clone(), p.In[0].Data, p.C.Each}
		stale := decoding{p.C, d.clone(), p.In[0].Data, p.C.Each}
		d.fill(p.In[n].Data, p.In[n+1].Data, way{})
		right := judge.Narrow(d.read(reading{}).Truth().Want)
		tensor.Float16.Round(right)
		assert.True(t, p.Judge(t, right).Passed)
		wrong := judge.Narrow(stale.read(reading{}).Truth().Want)
		assert.False(t, p.Judge(t, wrong).Passed, "the cache as it was before")
		if bits == 4 {
			other := decoding{p.C, stale.clone(), p.In[0].Data, p.C.Each}
			other.fill(p.In[n].Data, p.In[n+1].Data, way{atOnce: true})
			byToken := judge.Narrow(other.read(reading{byToken: true}).Truth().Want)
			tensor.Float16.Round(byToken)
			r := p.Judge(t, byToken)
			assert.False(t, r.Passed)
			assert.Contains(t, r.Reason, "right for another format, INT4 by token")
			byToken[5] += 0.1
			assert.NotContains(t, p.Judge(t, byToken).Reason, "another format")
		}
		_, err := op.Case(judge.Spec{Shape: []int{1, 2, 1, 64, 64, 40}, Each: []int{41}, Dist: tensor.Normal}, 1, 1)
		require.ErrorContains(t, err, "keeps 41 of 40 tokens")
	}
}

func TestRefusedSteps(t *testing.T) {
	for _, s := range []judge.Spec{
		{Shape: []int{2, 2, 2, 32, 64}, Each: []int{32, 33}},
		{Shape: []int{2, 2, 2, 32, 64}, Each: []int{-1, 3}},
		{Shape: []int{1, 3, 2, 32, 64}, Each: []int{3}},
		{Shape: []int{1, 1, 1, 48, 64}, Each: []int{3}},
	} {
		for _, bits := range []int{8, 4} {
			s.Dist, s.Refused = tensor.Normal, true
			e, d := giveStep(t, bits, s, 1)
			none := judge.NoNumbers(len(d.q))
			assert.True(t, e.Answer(t, map[string]uint64{problem.Errors: 1}, none).Passed)
			assert.Contains(t, e.Judge(t, none).Reason, fmt.Sprintf("DecodeInt%d returned no error", bits))
			s.Refused = false
			_, err := decodeOp(bits).Case(s, 1, 1)
			require.Error(t, err)
		}
	}
}

// TestMemory: what a cache of 4096 tokens takes, of halves, and that decoding has no room for these.
func TestMemory(t *testing.T) {
	for bits, most := range map[int]float64{8: 0.52, 4: 0.30} {
		c, err := decodeOp(bits).Case(judge.Spec{Shape: []int{1, 8, 8, 4096, 128}, Each: []int{4096}, Dist: tensor.Normal}, 1, 1)
		require.NoError(t, err)
		cache, halves := judge.Bytes(c.Inputs[1:]), 2.*2*4096*8*128
		assert.LessOrEqual(t, float64(cache)/halves, most, "INT%d", bits)
		assert.EqualValues(t, cache+2*2*8*128-map[int]uint64{8: 0, 4: 2 * 2 * 8 * 32 * 128}[bits], least(bits, c), "INT%d: the cache without its open group, q and out", bits)
		assert.Less(t, float64(scratch(c)), halves)
	}
}

// The truth of a timed query is made of a part of the cache, and is that of the whole one.
func TestTimedPiecesAreThoseOfTheWhole(t *testing.T) {
	for _, bits := range []int{8, 4} {
		op := decodeOp(bits)
		c, err := op.TimedCase(op.TimedSpec([]int{2, 4, 2, 64, 64}, false))
		require.NoError(t, err)
		assert.Equal(t, []int{63, 63}, c.Each)
		c.Seed = 11
		var in []*tensor.Tensor
		for _, one := range c.Inputs { // as the device is filled with them
			x, err := one.Random(c.Seed)
			require.NoError(t, err)
			in = append(in, x)
		}
		d := decoding{c, cacheOf(bits, c.Cache(), in[1:]), in[0].Data, c.Each}
		whole := d.read(reading{}).Truth()
		for _, row := range []int{0, 3, 5, 7} {
			one := op.Timed.Truth(c, row*64)
			assert.InDeltaSlice(t, whole.Want[row*64:(row+1)*64], one.Want, 1e-12)
			assert.Equal(t, whole.Type, one.Type)
		}
	}
}
