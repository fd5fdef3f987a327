package ops

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/attn"
	"flashlab/grader/oracle"
	"flashlab/grader/wire"
	"flashlab/tensor"
)

// prepared is a case of task 5 with its inputs.
type prepared struct {
	op Op
	c  wire.Case
	in []*tensor.Tensor
}

func prepare(t *testing.T, op Op, s Spec, seed uint64) prepared {
	t.Helper()
	c, err := op.Case(s, seed, 1)
	require.NoError(t, err)
	in, err := op.Inputs(c)
	require.NoError(t, err)
	return prepared{op, c, in}
}

// judge decides on outputs that hold these numbers.
func (p prepared) judge(t *testing.T, outputs ...[]float32) Verdict {
	t.Helper()
	return p.answer(t, nil, outputs...)
}

func (p prepared) answer(t *testing.T, counts map[string]uint64, outputs ...[]float32) Verdict {
	t.Helper()
	out := wire.Output{Counts: counts}
	for i, data := range outputs {
		x, err := tensor.Of(data, p.c.Outputs[i].Shape...)
		require.NoError(t, err)
		out.Tensors = append(out.Tensors, x)
	}
	return p.op.Judge(p.c, p.in, out)
}

func (p prepared) says(t *testing.T, want string, outputs ...[]float32) {
	t.Helper()
	v := p.judge(t, outputs...)
	require.False(t, v.Passed, want)
	assert.Contains(t, v.Reason, want)
	assert.NotEmpty(t, v.Details)
}

// decoding is the step of a case.
func (p prepared) decoding() decoding {
	return decoding{p.c.Decode(), p.c.Each, p.in[0].Data, p.in[1].Data, p.in[2].Data, p.c.Sizes["parts"]}
}

// with is what the step gives with one thing done otherwise.
func (d decoding) with(m mistake) []float32 {
	rows := m.rows
	if rows == nil {
		rows = oracle.CacheRows(d.s, d.lengths)
	}
	y, _, _ := oracle.Decode64(d.q, d.k, d.v, d.s, rows, m.change)
	return narrow(y)
}

// rounds computes as a kernel would that keeps its numbers in some arithmetic.
func (d decoding) rounds(a arithmetic) []float32 {
	var out []float32
	rows := oracle.CacheRows(d.s, d.lengths)
	for i := range d.s.Batch * d.s.Heads {
		at := rows(i/d.s.Heads, i%d.s.Heads)
		var k, v []float32
		for _, from := range at {
			k, v = append(k, d.k[from:from+d.s.Dim]...), append(v, d.v[from:from+d.s.Dim]...)
		}
		s := attn.Shape{Batch: 1, Heads: 1, KVHeads: 1, SeqQ: 1, SeqK: len(at), Dim: d.s.Dim}
		out = append(out, a.attention(d.q[i*d.s.Dim:(i+1)*d.s.Dim], k, v, s)...)
	}
	return out
}

var steps = []Spec{
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
			p := prepare(t, decodeStep, s, seed)
			d := p.decoding()
			for _, a := range honest {
				v := p.judge(t, d.rounds(a))
				assert.True(t, v.Passed, "%s %v seed %d: %v", a.name, s, seed, v)
			}
			if s.Dist != tensor.Normal || d.s.Dim == 1 {
				continue // one-hot rows lose nothing by rounding probabilities
			}
			for _, a := range dishonest {
				v := p.judge(t, d.rounds(a))
				assert.False(t, v.Passed, "%s %v seed %d", a.name, s, seed)
				assert.Contains(t, v.Reason, "nearly right", a.name)
			}
		}
	}
}

func TestDecodePatterns(t *testing.T) {
	p := prepare(t, decodeStep, Spec{Shape: []int{3, 6, 2, 150, 9}, Each: []int{150, 150, 150}, Dist: tensor.Normal}, 3)
	q := prepare(t, decodeSplit, Spec{Shape: []int{3, 6, 2, 150, 9, 5}, Each: []int{103, 150, 101}, Dist: tensor.Normal}, 3)
	for _, p := range []prepared{p, q} {
		d := p.decoding()
		right := d.with(mistake{})
		assert.True(t, p.judge(t, right).Passed)
		for _, m := range d.mistakes() {
			y := d.with(m)
			if slices.Equal(y, right) {
				continue // it makes no difference here
			}
			if slices.ContainsFunc(y, func(v float32) bool { return v != v }) {
				continue // it reads what was never written
			}
			p.says(t, m.says, y)
		}
		p.says(t, "every element is 0", make([]float32, len(right)))
		p.says(t, "the first sequence is right, the others are not", changed(right, func(i int) bool { return i >= len(right)/3 }))
		if p.op.Name == "split" { // its lengths differ
			p.says(t, "lengths up to 103 are right here, from 150 on they are wrong", changed(right, func(i int) bool { return i/54 == 1 }))
		}
		p.says(t, "rows have wrong values", changed(right, func(i int) bool { return i%2 == 0 }))
		p.says(t, "nearly right", roundedAll(right))
	}
}

// changed adds 1 to some numbers.
func changed(x []float32, some func(i int) bool) []float32 {
	y := slices.Clone(x)
	for i := range y {
		if some(i) {
			y[i]++
		}
	}
	return y
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
	p := prepare(t, decodeStep, Spec{Shape: []int{2, 2, 2, 9, 4}, Each: []int{9, 8}, Dist: tensor.Normal}, 3)
	right := p.decoding().with(mistake{})
	p.says(t, "stale slots beyond the length are read", in(right, func(row int) bool { return row >= 2 }, 4))
	p.says(t, "NaN or infinite", in(right, func(row int) bool { return row == 0 }, 4))
	p = prepare(t, decodeSplit, Spec{Shape: []int{2, 1, 1, 12, 4, 4}, Each: []int{12, 3}, Dist: tensor.Normal}, 3)
	p.says(t, "; or NaN where a part has no key", in(p.decoding().with(mistake{}), func(row int) bool { return row == 1 }, 4))
	p = prepare(t, decodeSplit, Spec{Shape: []int{1, 1, 1, 3, 4, 8}, Each: []int{3}, Dist: tensor.Normal}, 3)
	p.says(t, "NaN where a part has no key", in(p.decoding().with(mistake{}), func(int) bool { return true }, 4))
	p = prepare(t, decodeStep, Spec{Shape: []int{1, 1, 1, 9, 4}, Each: []int{9}, Dist: tensor.Large}, 3)
	p.says(t, "did exp overflow?", in(p.decoding().with(mistake{}), func(int) bool { return true }, 4))
}

func TestRefusals(t *testing.T) {
	p := prepare(t, decodeStep, Spec{Shape: []int{2, 2, 2, 9, 4}, Each: []int{9, 0}, Dist: tensor.Normal, Refused: true}, 3)
	refused := map[string]uint64{wire.Errors: 1}
	as, wrote := noNumbers(16), changed(noNumbers(16), func(int) bool { return false })
	wrote[3] = 0
	assert.True(t, p.answer(t, refused, as).Passed)
	assert.Contains(t, p.answer(t, refused, wrote).Reason, "had written 1 elements before")
	assert.Contains(t, p.answer(t, nil, as).Reason, "returned no error: sequence 1 has nothing in its cache")
	assert.Contains(t, p.answer(t, nil, wrote).Reason, "returned no error, and wrote 1 elements")

	for _, s := range []Spec{
		{Shape: []int{2, 3, 2, 9, 4}, Each: []int{9, 1}, Dist: tensor.Normal},
		{Shape: []int{2, 2, 2, 9, 4}, Each: []int{9, 10}, Dist: tensor.Normal},
		{Shape: []int{2, 2, 2, 9, 4}, Each: []int{-1, 1}, Dist: tensor.Normal},
	} {
		_, err := decodeStep.Case(s, 1, 1)
		assert.ErrorContains(t, err, "refused = true is missing", "%v", s)
	}
	_, err := decodeStep.Case(Spec{Shape: []int{1, 1, 1, 9, 4}, Each: []int{9}, Dist: tensor.Normal, Refused: true}, 1, 1)
	assert.ErrorContains(t, err, "nothing is wrong")
	_, err = decodeStep.Case(Spec{Shape: []int{2, 1, 1, 9, 4}, Each: []int{9}, Dist: tensor.Normal}, 1, 1)
	assert.ErrorContains(t, err, "takes 2 of them, the lengths of the sequences")
	_, err = softmax.Case(Spec{Shape: []int{1, 1, 1}, Each: []int{1}, Dist: tensor.Normal}, 1, 1)
	assert.ErrorContains(t, err, "takes 0 of them")
}
