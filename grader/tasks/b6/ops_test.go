package b6

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/judge/judgetest"
	"flashlab/grader/grading/problem"
	"flashlab/grader/tasks/shared"
	"flashlab/tensor"
)

type example struct {
	judgetest.Prepared
	decoding
}

func give(t *testing.T, op judge.Op, s judge.Spec, seed uint64) example {
	p := judgetest.Prepare(t, op, s, seed)
	return example{p, on(p.C, p.In, p.C.Inputs[0].Type)}
}

var specs = []judge.Spec{
	{Shape: []int{1, 1, 1, 1, 64}, Each: []int{1}, Dist: tensor.Normal},
	{Shape: []int{3, 4, 2, 113, 64}, Each: []int{113, 0, 64}, Dist: tensor.Normal},
	{Shape: []int{1, 8, 2, 150, 128}, Each: []int{150}, Dist: tensor.Normal},
	{Shape: []int{1, 2, 1, 1000, 64}, Each: []int{999}, Dist: tensor.Normal},
	{Shape: []int{2, 2, 1, 257, 64}, Each: []int{257, 200}, Dist: tensor.Large},
	{Shape: []int{1, 2, 1, 129, 128}, Each: []int{129}, Dist: tensor.Uneven},
	{Shape: []int{1, 2, 2, 129, 64}, Each: []int{128}, Dist: tensor.Equal},
}

// inParts is what kernels do that share a query's keys out. p rounds probabilities, as tensor cores want it, or not.
func (d decoding) inParts(parts int, p func(float32) float32) (out []float32) {
	rows := shared.CacheRows(d.S, d.Lengths)
	for row := range d.S.Batch * d.S.Heads {
		var k, v []float32
		for _, at := range rows(row/d.S.Heads, row%d.S.Heads) {
			k, v = append(k, d.K[at:at+d.S.Dim]...), append(v, d.V[at:at+d.S.Dim]...)
		}
		out = append(out, judgetest.InParts(d.Q[row*d.S.Dim:(row+1)*d.S.Dim], k, v, parts, p, func(x float32) float32 { return x })...)
	}
	d.Type.Round(out)
	return out
}

// TestMixedPrecisionPassesAndShortcutsDoNot: probabilities may be of 16 bits or more, whatever the
// number of parts; no sum or score may. Rounded scores are seen in most inputs: of some seeds they cost no more than
// rounded probabilities do.
func TestMixedPrecisionPassesAndShortcutsDoNot(t *testing.T) {
	for _, op := range Ops[:2] {
		for i, s := range specs {
			const seeds = 8
			tried, caught := map[int]int{}, map[int]int{}
			for seed := range uint64(seeds) {
				e := give(t, op, s, seed)
				for _, parts := range []int{1, 3, 32} {
					assert.True(t, e.Judge(t, e.inParts(parts, shared.Rounder(e.Type))).Passed, "%s, spec %d, %d parts, seed %d", op.Name, i, parts, seed)
					assert.True(t, e.Judge(t, e.inParts(parts, func(x float32) float32 { return x })).Passed, "%s, spec %d, %d parts in float32", op.Name, i, parts)
				}
				if s.Dist != tensor.Normal || s.Shape[3] < 100 {
					continue
				}
				for k, w := range e.Roundings() {
					if k == 1 && e.Type == tensor.BFloat16 && s.Shape[3] > 500 {
						continue // of so many keys, scores of 8 bits are no worse than probabilities of 8 bits
					}
					j := e.Judge(t, judge.Narrow(w.Whole()))
					tried[k]++
					if !j.Passed {
						caught[k]++
						assert.Equal(t, w.Says, j.Reason)
					}
				}
			}
			for k := range tried {
				assert.GreaterOrEqual(t, caught[k], seeds-2, "%s, spec %d, rounding %d", op.Name, i, k)
			}
		}
	}
}

func TestMistakesAreRecognised(t *testing.T) {
	for _, op := range Ops[:2] {
		e := give(t, op, judge.Spec{Shape: []int{3, 4, 2, 150, 64}, Each: []int{150, 150, 0}, Dist: tensor.Normal}, 3)
		right := judge.Narrow(e.Truth().Want)
		for i, m := range e.Mistakes() {
			out := judgetest.Shown(m)
			if slices.Equal(out, right) || slices.ContainsFunc(out, func(v float32) bool { return v != v }) {
				continue // it makes no difference here, or reads what was never written
			}
			e.Type.Round(out)
			j := e.Judge(t, out)
			if j.Passed {
				continue // too little to matter here
			}
			assert.NotContains(t, j.Reason, "wrong values in ", "%s, mistake %d: %s", op.Name, i, m.Says)
		}
		other := judge.Narrow(shared.AsOtherType(e.Type, e.Q, e.K, e.V, e.withInputs).Whole())
		assert.Contains(t, e.Judge(t, other).Reason, "the bits are read as the other type")
		assert.Contains(t, e.Judge(t, make([]float32, len(right))).Reason, "every element is 0")
		bits, _ := e.Type.Unwritten()
		unwritten := slices.Clone(right)
		unwritten[5] = math.Float32frombits(bits)
		assert.Contains(t, e.Judge(t, unwritten).Reason, "never written")
	}
}

// TestNaNTellsWhatHadNoKey: a sequence, or a part of a short one.
func TestNaNTellsWhatHadNoKey(t *testing.T) {
	e := give(t, Ops[0], judge.Spec{Shape: []int{3, 2, 1, 150, 64}, Each: []int{150, 0, 120}, Dist: tensor.Normal}, 3)
	in := func(e example, sequences ...int) string {
		y := judge.Narrow(e.Truth().Want)
		e.Type.Round(y)
		for i := range y {
			if slices.Contains(sequences, i/(e.S.Heads*e.S.Dim)) {
				y[i] = float32(math.NaN())
			}
		}
		return e.Judge(t, y).Reason
	}
	assert.Contains(t, in(e, 1), "NaN where a sequence has no key")
	assert.Contains(t, in(e, 1, 2), "stale slots")
	assert.Contains(t, in(e, 2), "NaN")
	short := give(t, Ops[0], judge.Spec{Shape: []int{1, 2, 1, 3, 64}, Each: []int{3}, Dist: tensor.Normal}, 3)
	assert.Contains(t, in(short, 0), "NaN in short sequences")
}

func TestALengthAsItWasRecorded(t *testing.T) {
	e := give(t, Ops[2], judge.Spec{Shape: []int{2, 4, 2, 20, 64}, Each: []int{20, 0}, Dist: tensor.Normal}, 3)
	one := e.decoding
	one.Lengths = []int{1, 0}
	out := judge.Narrow(one.Truth().Want)
	assert.Contains(t, e.Judge(t, out).Reason, "the lengths are those of when the step was recorded")
}

func TestRefusals(t *testing.T) {
	for _, s := range []judge.Spec{
		{Shape: []int{2, 2, 2, 9, 64}, Each: []int{9, 10}},
		{Shape: []int{2, 2, 2, 9, 64}, Each: []int{-1, 3}},
		{Shape: []int{1, 3, 2, 9, 64}, Each: []int{3}},
		{Shape: []int{1, 1, 1, 9, 80}, Each: []int{3}},
	} {
		s.Dist, s.Refused = tensor.Normal, true
		e := give(t, Ops[1], s, 1)
		none := judge.NoNumbers(len(e.Q))
		assert.True(t, e.Answer(t, map[string]uint64{problem.Errors: 1}, none).Passed)
		assert.Contains(t, e.Judge(t, none).Reason, "BFloat16 returned no error")
		s.Refused = false
		_, err := Ops[1].Case(s, 1, 1)
		require.Error(t, err)
	}
}

func TestTimedPiecesAreThoseOfTheWhole(t *testing.T) {
	for _, op := range Ops[:2] {
		c, err := op.TimedCase(op.TimedSpec([]int{2, 4, 2, 9, 64}, false))
		require.NoError(t, err)
		c.Seed = 11
		in, err := op.Inputs(c)
		require.NoError(t, err)
		whole := on(c, in, c.Inputs[0].Type).Truth()
		for _, row := range []int{0, 3, 5, 7} {
			one := op.Timed.Truth(c, row*64)
			assert.InDeltaSlice(t, whole.Want[row*64:(row+1)*64], one.Want, 1e-12)
			assert.Equal(t, whole.Type, one.Type)
		}
	}
}

func TestLeastTraffic(t *testing.T) {
	c, err := Ops[0].Case(judge.Spec{Shape: []int{2, 8, 2, 100, 128}, Each: []int{100, 7}, Dist: tensor.Normal}, 1, 1)
	require.NoError(t, err)
	assert.EqualValues(t, 2*(2*2*8*128+2*107*2*128), shared.LeastDecode(c), "q and out, and 107 slots of each cache, once for four query heads")
}
