package task5

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"flashlab/attn"
	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/judge/judgetest"
	"flashlab/grader/grading/problem"
	"flashlab/grader/tasks/shared"
	"flashlab/tensor"
)

// decodingOf is the step of a case.
func decodingOf(p judgetest.Prepared) decoding {
	return decoding{S: p.C.Decode(), Lengths: p.C.Each, Q: p.In[0].Data, K: p.In[1].Data, V: p.In[2].Data, Parts: p.C.Sizes["parts"]}
}

// exactly is what the step gives.
func exactly(d decoding) []float32 {
	y, _, _ := shared.Decode64(d.Q, d.K, d.V, d.S, shared.CacheRows(d.S, d.Lengths), shared.Deviation{})
	return judge.Narrow(y)
}

// differs tells whether a mistake makes a difference here, where it can be foretold.
func differs(m judge.Mistake, right []float32) bool {
	for i, w := range judge.Narrow(m.Whole()) {
		if w == w && w != right[i] {
			return true
		}
	}
	return false
}

// rounds computes as a kernel would that keeps its numbers in some arithmetic.
func rounds(d decoding, a judgetest.Arithmetic) []float32 {
	var out []float32
	rows := shared.CacheRows(d.S, d.Lengths)
	for i := range d.S.Batch * d.S.Heads {
		at := rows(i/d.S.Heads, i%d.S.Heads)
		var k, v []float32
		for _, from := range at {
			k, v = append(k, d.K[from:from+d.S.Dim]...), append(v, d.V[from:from+d.S.Dim]...)
		}
		s := attn.Shape{Batch: 1, Heads: 1, KVHeads: 1, SeqQ: 1, SeqK: len(at), Dim: d.S.Dim}
		out = append(out, a.Attention(d.Q[i*d.S.Dim:(i+1)*d.S.Dim], k, v, s)...)
	}
	return out
}

var steps = []judge.Spec{
	{Shape: []int{1, 1, 1, 1, 1}, Each: []int{1}, Dist: tensor.Normal},
	{Shape: []int{3, 2, 2, 113, 33}, Each: []int{113, 1, 64}, Dist: tensor.Normal},
	{Shape: []int{2, 6, 2, 140, 128}, Each: []int{140, 131}, Dist: tensor.Normal},
	{Shape: []int{1, 4, 1, 1000, 16}, Each: []int{999}, Dist: tensor.Normal},
	{Shape: []int{2, 2, 2, 257, 32}, Each: []int{257, 200}, Dist: tensor.Large},
	{Shape: []int{2, 2, 2, 257, 32}, Each: []int{256, 257}, Dist: tensor.OneHot},
	{Shape: []int{1, 2, 2, 129, 64}, Each: []int{128}, Dist: tensor.Equal},
}

func TestFloat32PassesDecodingAndLessDoesNot(t *testing.T) {
	for _, s := range steps {
		for seed := range uint64(3) {
			p := judgetest.Prepare(t, decodeStep, s, seed)
			d := decodingOf(p)
			for _, a := range judgetest.Honest {
				v := p.Judge(t, rounds(d, a))
				assert.True(t, v.Passed, "%s %v seed %d: %v", a.Name, s, seed, v)
			}
			if s.Dist != tensor.Normal || d.S.Dim == 1 {
				continue // one-hot rows lose nothing by rounding probabilities
			}
			for _, a := range judgetest.Dishonest {
				v := p.Judge(t, rounds(d, a))
				assert.False(t, v.Passed, "%s %v seed %d", a.Name, s, seed)
				assert.Contains(t, v.Reason, "nearly right", a.Name)
			}
		}
	}
}

func TestDecodePatterns(t *testing.T) {
	p := judgetest.Prepare(t, decodeStep, judge.Spec{Shape: []int{3, 6, 2, 150, 9}, Each: []int{150, 150, 150}, Dist: tensor.Normal}, 3)
	q := judgetest.Prepare(t, decodeSplit, judge.Spec{Shape: []int{3, 6, 2, 150, 9, 5}, Each: []int{103, 150, 101}, Dist: tensor.Normal}, 3)
	for _, p := range []judgetest.Prepared{p, q} {
		d := decodingOf(p)
		right := exactly(d)
		assert.True(t, p.Judge(t, right).Passed)
		for _, m := range d.Mistakes() {
			if !differs(m, right) {
				continue
			}
			p.Says(t, m.Says, judgetest.Shown(m))
		}
		p.Says(t, "every element is 0", make([]float32, len(right)))
		p.Says(t, "the first sequence is right, the others are not", judgetest.Changed(right, func(i int) bool { return i >= len(right)/3 }))
		if p.Op.Name == "split" { // its lengths differ
			p.Says(t, "lengths up to 103 are right here, from 150 on they are wrong", judgetest.Changed(right, func(i int) bool { return i/54 == 1 }))
		}
		p.Says(t, "wrong values in ", judgetest.Changed(right, func(i int) bool { return i%2 == 0 }))
		p.Says(t, "nearly right", judgetest.RoundedAll(right))
	}
}

// TestShortStepsAreNotRounding: a key too few or too many, among thousands, is named.
func TestShortStepsAreNotRounding(t *testing.T) {
	p := judgetest.Prepare(t, decodeStep, judge.Spec{Shape: []int{1, 1, 1, 4090, 16}, Each: []int{4085}, Dist: tensor.Normal}, 3)
	d := decodingOf(p)
	for _, want := range []string{"the newest token is missing", "counted with score 0, up to a multiple of 16"} {
		for _, m := range d.Mistakes() {
			if strings.Contains(m.Says, want) {
				p.Says(t, want, judgetest.Shown(m))
			}
		}
	}
}

func TestNaNTellsWhatWasRead(t *testing.T) {
	nan := float32(math.NaN())
	in := func(y []float32, some func(row int) bool, dim int) []float32 {
		y = slices.Clone(y)
		for i := range y {
			if some(i / dim) {
				y[i] = nan
			}
		}
		return y
	}
	p := judgetest.Prepare(t, decodeStep, judge.Spec{Shape: []int{2, 2, 2, 9, 4}, Each: []int{9, 8}, Dist: tensor.Normal}, 3)
	right := exactly(decodingOf(p))
	p.Says(t, "stale slots beyond the length are read", in(right, func(row int) bool { return row >= 2 }, 4))
	p.Says(t, "NaN or infinite", in(right, func(row int) bool { return row == 0 }, 4))
	p = judgetest.Prepare(t, decodeSplit, judge.Spec{Shape: []int{2, 1, 1, 12, 4, 4}, Each: []int{12, 3}, Dist: tensor.Normal}, 3)
	p.Says(t, "; or NaN where a part has no key", in(exactly(decodingOf(p)), func(row int) bool { return row == 1 }, 4))
	p = judgetest.Prepare(t, decodeSplit, judge.Spec{Shape: []int{1, 1, 1, 3, 4, 8}, Each: []int{3}, Dist: tensor.Normal}, 3)
	p.Says(t, "NaN where a part has no key", in(exactly(decodingOf(p)), func(int) bool { return true }, 4))
	p = judgetest.Prepare(t, decodeStep, judge.Spec{Shape: []int{1, 1, 1, 9, 4}, Each: []int{9}, Dist: tensor.Large}, 3)
	p.Says(t, "did exp overflow?", in(exactly(decodingOf(p)), func(int) bool { return true }, 4))
}

func TestRefusals(t *testing.T) {
	p := judgetest.Prepare(t, decodeStep, judge.Spec{Shape: []int{2, 2, 2, 9, 4}, Each: []int{9, 0}, Dist: tensor.Normal, Refused: true}, 3)
	refused := map[string]uint64{problem.Errors: 1}
	as, wrote := judge.NoNumbers(16), judgetest.Changed(judge.NoNumbers(16), func(int) bool { return false })
	wrote[3] = 0
	assert.True(t, p.Answer(t, refused, as).Passed)
	assert.Contains(t, p.Answer(t, refused, wrote).Reason, "had written 1 elements before")
	assert.Contains(t, p.Answer(t, nil, as).Reason, "returned no error: sequence 1 has nothing in its cache")
	assert.Contains(t, p.Answer(t, nil, wrote).Reason, "returned no error, and wrote 1 elements")

	for _, s := range []judge.Spec{
		{Shape: []int{2, 3, 2, 9, 4}, Each: []int{9, 1}, Dist: tensor.Normal},
		{Shape: []int{2, 2, 2, 9, 4}, Each: []int{9, 10}, Dist: tensor.Normal},
		{Shape: []int{2, 2, 2, 9, 4}, Each: []int{-1, 1}, Dist: tensor.Normal},
	} {
		_, err := decodeStep.Case(s, 1, 1)
		assert.ErrorContains(t, err, "refused = true is missing", "%v", s)
	}
	_, err := decodeStep.Case(judge.Spec{Shape: []int{1, 1, 1, 9, 4}, Each: []int{9}, Dist: tensor.Normal, Refused: true}, 1, 1)
	assert.ErrorContains(t, err, "nothing is wrong")
	_, err = decodeStep.Case(judge.Spec{Shape: []int{2, 1, 1, 9, 4}, Each: []int{9}, Dist: tensor.Normal}, 1, 1)
	assert.ErrorContains(t, err, "takes 2 of them, the lengths of the sequences")
	_, err = shared.Softmax.Case(judge.Spec{Shape: []int{1, 1, 1}, Each: []int{1}, Dist: tensor.Normal}, 1, 1)
	assert.ErrorContains(t, err, "takes 0 of them")
}
