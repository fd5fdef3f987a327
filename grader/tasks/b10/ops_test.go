package b10

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/judge/judgetest"
	"flashlab/grader/grading/problem"
	"flashlab/tensor"
)

// example is a case of an operation.
type example struct {
	judgetest.Prepared
	backward
}

func give(t *testing.T, op judge.Op, s judge.Spec, seed uint64) example {
	p := judgetest.Prepare(t, op, s, seed)
	return example{p, of(p.C, p.In)}
}

// ruled is what is said of an output of number at, when the others are right.
func (e example) ruled(t *testing.T, at int, got []float32) judge.Ruling {
	t.Helper()
	plain := e.plain()
	all := plain[:]
	if len(e.C.Outputs) > len(names) {
		all = slices.Concat(all, all)
	}
	all = slices.Clone(all)
	all[at] = got
	return e.Judge(t, all...)
}

var specs = []judge.Spec{
	{Shape: []int{1, 1, 1, 1, 1, 64}, Dist: tensor.Normal},
	{Shape: []int{1, 1, 1, 2, 2, 128}, Dist: tensor.Normal},
	{Shape: []int{2, 4, 2, 17, 17, 64}, Dist: tensor.Normal},
	{Shape: []int{1, 2, 1, 17, 113, 64}, Dist: tensor.Normal},
	{Shape: []int{1, 2, 2, 113, 17, 64}, Dist: tensor.Normal},
	{Shape: []int{1, 1, 1, 33, 129, 64}, Dist: tensor.Large},
	{Shape: []int{1, 1, 1, 33, 65, 64}, Dist: tensor.OneHot},
	{Shape: []int{1, 1, 1, 33, 65, 64}, Dist: tensor.Uneven},
	{Shape: []int{1, 1, 1, 33, 65, 64}, Dist: tensor.Equal},
	{Shape: []int{1, 4, 2, 33, 70, 64}, Dist: tensor.Normal, Causal: true},
	{Shape: []int{1, 1, 1, 40, 20, 64}, Dist: tensor.Normal, Causal: true}, // queries that see nothing
}

// loss is the sum of dOut ∘ out, of an attention in float64, with number at of one of q, k and v larger by some.
func (b backward) loss(input, at int, more float64) (loss float64) {
	in := [3][]float64{judge.Wide(b.q), judge.Wide(b.k), judge.Wide(b.v)}
	in[input][at] += more
	for row := range len(b.lse) {
		keys := b.keyHead(row/b.s.SeqQ, way{}) * b.s.SeqK
		scores, largest, sum := make([]float64, b.s.SeqK), math.Inf(-1), 0.0
		for j := range scores {
			for x := range b.s.Dim {
				scores[j] += in[0][row*b.s.Dim+x] * in[1][(keys+j)*b.s.Dim+x] / math.Sqrt(float64(b.s.Dim))
			}
			if b.s.Sees(row%b.s.SeqQ, j) {
				largest = math.Max(largest, scores[j])
			}
		}
		weighted := 0.0
		for j, score := range scores {
			if !b.s.Sees(row%b.s.SeqQ, j) {
				continue
			}
			p := math.Exp(score - largest)
			sum += p
			for x := range b.s.Dim {
				weighted += p * in[2][(keys+j)*b.s.Dim+x] * float64(b.dOut[row*b.s.Dim+x])
			}
		}
		if sum > 0 {
			loss += weighted / sum
		}
	}
	return loss
}

// TestFiniteDifferences: the gradients are what the loss changes by, for each pair of odd lengths.
func TestFiniteDifferences(t *testing.T) {
	check := func(s judge.Spec) {
		t.Run(fmt.Sprint(s.Shape, s.Causal), func(t *testing.T) {
			e := give(t, Ops[0], s, 7)
			g := e.compute(way{})
			for which, want := range g.out {
				for at := 0; at < len(want); at += 1 + len(want)/7 {
					const step = 1e-4
					difference := (e.loss(which, at, step) - e.loss(which, at, -step)) / (2 * step)
					// lse and out were rounded to float32.
					assert.InDelta(t, difference, want[at], 1e-5*(1+math.Abs(want[at])), "%s, number %d", names[which], at)
				}
			}
		})
	}
	for _, seqQ := range []int{1, 2, 17, 113} {
		for _, seqK := range []int{1, 2, 17, 113} {
			check(judge.Spec{Shape: []int{1, 2, 1, seqQ, seqK, 64}, Dist: tensor.Normal})
			check(judge.Spec{Shape: []int{1, 1, 1, seqQ, seqK, 64}, Dist: tensor.Normal, Causal: true})
		}
	}
}

// backwards is what a kernel does that owns sums: terms from the last to the first, and dot products in four parts.
func (b backward) backwards() (g [3][]float32) {
	s, dim := b.s, b.s.Dim
	for i, n := range []int{s.QElements(), s.KVElements(), s.KVElements()} {
		g[i] = make([]float32, n)
	}
	dot := func(x, y []float32) float32 {
		var part [4]float32
		for i := range x {
			part[i%4] += x[i] * y[i]
		}
		return part[0] + part[1] + (part[2] + part[3])
	}
	of := func(x []float32, row int) []float32 { return x[row*dim : (row+1)*dim] }
	round := func(x ...float32) []float32 {
		b.ty.Round(x)
		return x
	}
	log2e, scale := float32(math.Log2E), float32(1/math.Sqrt(float64(dim)))
	for row := len(b.lse) - 1; row >= 0; row-- {
		keys := b.keyHead(row/s.SeqQ, way{}) * s.SeqK
		for key := keys + s.SeqK - 1; key >= keys; key-- {
			if !s.Sees(row%s.SeqQ, key-keys) {
				continue
			}
			p := float32(math.Exp2(float64(dot(of(b.q, row), of(b.k, key))*(scale*log2e) - b.lse[row]*log2e)))
			pair := round(p, p*scale*(dot(of(b.dOut, row), of(b.v, key))-dot(of(b.dOut, row), of(b.out, row))))
			p, dS := pair[0], pair[1]
			for x := range dim {
				g[0][row*dim+x] += dS * b.k[key*dim+x]
				g[1][key*dim+x] += dS * b.q[row*dim+x]
				g[2][key*dim+x] += p * b.dOut[row*dim+x]
			}
		}
	}
	for _, x := range g {
		round(x...)
	}
	return g
}

// TestFloat32PassesAndLessDoesNot: any order of float32 sums passes, and 11 bits of the result do not.
func TestFloat32PassesAndLessDoesNot(t *testing.T) {
	for i, s := range specs {
		for seed := range uint64(3) {
			e := give(t, Ops[0], s, seed)
			other := e.backwards()
			for which, op := range Ops[:3] {
				e.Op = op
				assert.True(t, e.ruled(t, which, e.plain()[which]).Passed, "plain, %s, spec %d", op.Name, i)
				r := e.ruled(t, which, other[which])
				assert.True(t, r.Passed, "backwards, %s, spec %d, seed %d: %v", op.Name, i, seed, r)
				if s.Dist == tensor.Normal && s.Shape[3] > 2 {
					assert.False(t, e.ruled(t, which, judgetest.RoundedAll(e.plain()[which])).Passed, "11 bits, %s, spec %d", op.Name, i)
				}
			}
		}
	}
}

// TestHalvesPassAndLessDoNot: tensor cores' sums pass, in which the scale is in P or in dS, and what is rounded once more does not.
func TestHalvesPassAndLessDoNot(t *testing.T) {
	for i, s := range specs {
		for _, op := range Ops[4:] {
			if op.Name == "backward_float16" && s.Dist != tensor.Normal && s.Dist != tensor.OneHot {
				continue // dP or dS leave float16's range, or all terms of a sum are rounded the same way: no case has these
			}
			for seed := range uint64(3) {
				e := give(t, op, s, seed)
				other := e.backwards()
				r := e.ruled(t, 0, e.plain()[0])
				assert.True(t, r.Passed, "plain, %s, spec %d: %v", op.Name, i, r)
				for which := range names {
					r := e.ruled(t, which, other[which])
					assert.True(t, r.Passed, "backwards, %s, spec %d, seed %d: %v", op.Name, i, seed, r)
					if s.Dist == tensor.Normal && s.Shape[3] > 2 {
						coarse := slices.Clone(e.plain()[which])
						for at, x := range coarse { // two bits fewer
							bits := math.Float32bits(x)
							drop := map[tensor.Type]uint32{tensor.Float16: 15, tensor.BFloat16: 18}[e.ty]
							coarse[at] = math.Float32frombits((bits + 1<<(drop-1)) &^ (1<<drop - 1))
						}
						assert.False(t, e.ruled(t, which, coarse).Passed, "fewer bits, %s, spec %d, %s", op.Name, i, names[which])
					}
				}
			}
		}
	}
}

func TestMistakesAreRecognised(t *testing.T) {
	for which, op := range Ops[:3] {
		e := give(t, op, judge.Spec{Shape: []int{2, 6, 2, 17, 33, 64}, Dist: tensor.Normal, Causal: true}, 3)
		for i, m := range e.mistakes(which) {
			r := e.ruled(t, which, judge.Narrow(m.Whole()))
			if assert.False(t, r.Passed, "%s %d: %s", op.Name, i, m.Says) {
				assert.Equal(t, names[which]+": "+m.Says, r.Reason)
			}
		}
		judgetest.NotAccused(t, e.truth(which), e.mistakes(which)...)
		assert.Contains(t, e.ruled(t, which, make([]float32, len(e.plain()[which]))).Reason, "every element is 0")
	}
}

func TestBlindQueriesThatAreNaN(t *testing.T) {
	e := give(t, Ops[0], judge.Spec{Shape: []int{1, 1, 1, 40, 20, 64}, Dist: tensor.Normal, Causal: true}, 1)
	got := e.plain()[0]
	got[0] = float32(math.NaN())
	assert.Contains(t, e.ruled(t, 0, got).Reason, "20 queries see no key")
}

// TestOtherBits: both calls are right, and still not the same.
func TestOtherBits(t *testing.T) {
	e := give(t, Ops[3], judge.Spec{Shape: []int{1, 2, 1, 17, 33, 64}, Dist: tensor.Normal}, 1)
	require.True(t, e.ruled(t, 0, e.plain()[0]).Passed)
	for at := range 2 * len(names) {
		got := e.plain()[at%len(names)]
		got[5] = math.Nextafter32(got[5], 2)
		r := e.ruled(t, at, got)
		require.False(t, r.Passed)
		assert.Contains(t, r.Reason, fmt.Sprintf("1 of %d numbers of %s have other bits", len(got), names[at%len(names)]))
		got[5] += 1
		assert.Contains(t, e.ruled(t, at, got).Reason, "wrong values in 1 of")
	}
}

func TestTrafficInTiles(t *testing.T) {
	c, err := Ops[0].Case(judge.Spec{Shape: []int{1, 2, 1, 64, 64, 64}, Dist: tensor.Normal}, 1, 1)
	require.NoError(t, err)
	query, key := uint64(3*64+1), uint64(2*64)
	owners := 64*2*key + 2*64*(query+64)
	assert.Equal(t, 4*(owners+2*2*64*(query+key)), inTiles(c))
	c.Causal = true
	assert.Equal(t, 4*(owners+2*(64+32)*(query+key)), inTiles(c))
}

// TestFloor: whoever skips queries that see no key is not suspected.
func TestFloor(t *testing.T) {
	c, err := Ops[0].Case(judge.Spec{Shape: []int{1, 2, 1, 64, 24, 64}, Dist: tensor.Normal}, 1, 1)
	require.NoError(t, err)
	assert.Equal(t, uint64(4*(2*64*(4*64+1)+24*4*64)), Ops[0].Floor(c))
	c.Causal = true
	assert.Equal(t, uint64(4*(2*(24*(3*64+1)+64*64)+24*4*64)), Ops[0].Floor(c))
	assert.Equal(t, 2*Ops[0].Floor(c), Ops[3].Floor(c))
}

// TestPieces: a row's truth of its own is that of the whole.
func TestPieces(t *testing.T) {
	for _, op := range []judge.Op{Ops[0], Ops[4]} {
		c, err := op.TimedCase(judge.Spec{Shape: []int{2, 4, 2, 20, 33, 64}, Dist: tensor.Normal, Causal: true})
		require.NoError(t, err)
		var in []*tensor.Tensor
		for i, x := range c.Inputs {
			y, err := tensor.Of(judge.InputPart(c, i, 0, x.Elements()), x.Shape...)
			require.NoError(t, err)
			in = append(in, y)
		}
		for which := range names {
			whole := of(c, in).truth(which)
			for row := 0; row < whole.Rows(); row += 7 {
				one := piece(c, which, row)
				assert.InDeltaSlice(t, whole.Want[row*64:(row+1)*64], one.Want, 1e-12, "%s, row %d", names[which], row)
				assert.InDelta(t, whole.Scale[row], one.Scale[0], 1e-9*one.Scale[0])
			}
		}
	}
}

func TestDimensionsNotServed(t *testing.T) {
	e := give(t, Ops[0], judge.Spec{Shape: []int{1, 1, 1, 2, 3, 80}, Dist: tensor.Normal, Refused: true}, 1)
	none := [][]float32{judge.NoNumbers(160), judge.NoNumbers(240), judge.NoNumbers(240)}
	assert.True(t, e.Answer(t, map[string]uint64{problem.Errors: 1}, none...).Passed)
	assert.Contains(t, e.Judge(t, none...).Reason, "Float32 returned no error")
}
