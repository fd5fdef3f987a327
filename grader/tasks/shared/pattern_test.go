package shared

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/attn"
	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/judge/judgetest"
	"flashlab/grader/grading/problem"
	"flashlab/tensor"
)

// given is an example with its inputs made.
type given struct {
	judgetest.Example
	c  problem.Problem
	in []*tensor.Tensor
}

func give(t *testing.T, op judge.Op, causal bool, shape ...int) given {
	e := judgetest.Of(op, shape, tensor.Normal, causal)
	c, in := e.Inputs(t, 3)
	return given{e, c, in}
}

// deviation is what an attention with one thing done otherwise gives.
func (g given) deviation(v Deviation) []float32 {
	y, _ := Attention64(g.in[0].Data, g.in[1].Data, g.in[2].Data, g.c.Attention(), v)
	return judge.Narrow(y)
}

func (g given) says(t *testing.T, got []float32, want string) {
	t.Helper()
	v := g.Judge(g.c, g.in, got)
	require.False(t, v.Passed, want)
	assert.Contains(t, v.Reason, want)
	assert.NotEmpty(t, v.Details)
}

func TestAttentionPatterns(t *testing.T) {
	full, causal := give(t, Flash, false, 1, 2, 17, 113, 33), give(t, Flash, true, 1, 2, 65, 113, 33)
	for _, g := range []given{full, causal} {
		assert.True(t, g.Judge(g.c, g.in, g.deviation(Deviation{})).Passed)
		for _, m := range AttentionOn(g.c.Attention(), g.in[0].Data, g.in[1].Data, g.in[2].Data).mistakes() {
			g.says(t, judge.Narrow(m.Whole()), m.Says)
		}
	}
	square := give(t, Flash, false, 1, 2, 65, 65, 33)
	swapped, _ := Attention64(square.in[1].Data, square.in[0].Data, square.in[2].Data, square.c.Attention(), Deviation{})
	square.says(t, judge.Narrow(swapped), "q and k are exchanged")
	s := causal.c.Attention()
	right := causal.deviation(Deviation{})
	change := func(f func(row int) bool, to func(v float32) float32) []float32 {
		y := append([]float32{}, right...)
		for i := range y {
			if f(i / s.Dim) {
				y[i] = to(y[i])
			}
		}
		return y
	}
	off := func(v float32) float32 { return v + 1 }
	causal.says(t, change(func(row int) bool { return row%s.SeqQ >= 32 }, off), "rows 0 to 31 are right, all beyond the first tile are wrong")
	causal.says(t, change(func(row int) bool { return row%s.SeqQ >= 64 }, off), "the last partial tile")
	causal.says(t, change(func(row int) bool { return row%s.SeqQ < s.SeqQ-1 }, off), "Look at the causal mask")
	causal.says(t, change(func(row int) bool { return row >= s.SeqQ }, off), "the first head is right, the others are not")
	causal.says(t, change(func(row int) bool { return row == 1 }, func(float32) float32 { return float32(math.NaN()) }), "a tile masks everything")
	causal.says(t, change(func(row int) bool { return row == 1 }, func(float32) float32 { return float32(math.Inf(-1)) }), "The causal mask comes before the softmax")
	full.says(t, make([]float32, len(full.deviation(Deviation{}))), "every element is 0")
}

// TestSmallErrorsHaveCauses: what is wrong by little, for there are many keys, is not taken for rounding.
func TestSmallErrorsHaveCauses(t *testing.T) {
	long := give(t, Flash, false, 1, 1, 8, 2047, 16)
	long.says(t, long.deviation(Deviation{Pad: 8}), "keys beyond SeqK are counted with score 0: 1 of them, up to a multiple of 8")
	causal := give(t, Flash, true, 1, 1, 300, 300, 16)
	causal.says(t, causal.deviation(Deviation{Sees: func(s attn.Shape, i, j int) bool { return j < s.SeqK-1 && s.Sees(i, j) }}), "the last key is missing")

	right := long.deviation(Deviation{})
	twice := make([]float32, len(right))
	for i, v := range right {
		twice[i] = v * 0.997
	}
	long.says(t, twice, "the rows are right but for a factor (one is 0.997 of what it should be)")
	long.says(t, judgetest.RoundedAll(right), "more rounding than float32 explains")
	some := append([]float32{}, right...)
	for i := range 16 {
		some[3*16+i] = judgetest.Rounded(some[3*16+i])
	}
	long.says(t, some, "wrong values in 1 of 8 rows, though only slightly: the others are right")
}

// TestNaNWithoutTiles: no tile is blamed where there is none.
func TestNaNWithoutTiles(t *testing.T) {
	for _, g := range []given{give(t, Attention, true, 1, 1, 65, 65, 8), give(t, Flash, true, 1, 1, 7, 7, 8)} {
		y := g.deviation(Deviation{})
		y[3*8] = float32(math.NaN())
		g.says(t, y, "where does a masked score (-Inf) meet another one?")
	}
}

func TestQueriesWithoutAKeyGetZeros(t *testing.T) {
	g := give(t, Flash, true, 1, 1, 9, 4, 3)
	right := g.deviation(Deviation{})
	assert.Equal(t, make([]float32, 5*3), right[:5*3])
	assert.True(t, g.Judge(g.c, g.in, right).Passed)
	wrong := append([]float32{}, right...)
	wrong[4] = float32(math.NaN())
	g.says(t, wrong, "NaN from a row masked entirely")
	wrong[4] = 1e-20
	assert.False(t, g.Judge(g.c, g.in, wrong).Passed, "zeros are exact")
}

func TestGemmPatterns(t *testing.T) {
	nt, nn := Gemm("gemm_nt", true), Gemm("gemm_nn", false)
	for _, op := range []judge.Op{nt, nn} {
		transB := op.Name == "gemm_nt"
		g := give(t, op, false, 3, 40, 70, 37)
		s := g.c.Gemm(transB)
		a, b := g.in[0].Data, g.in[1].Data
		product := func(a, b []float32, s attn.GemmShape) []float32 {
			c, _ := Gemm64(a, b, s)
			return judge.Narrow(c)
		}
		right := product(a, b, s)
		assert.True(t, g.Judge(g.c, g.in, right).Passed)
		other := s
		other.TransB = !transB
		g.says(t, product(a, b, other), "this is the product with b read as")
		g.says(t, product(Repeated(a, 3), b, s), "uses the first one's a")
		g.says(t, product(a, Repeated(b, 3), s), "uses the first one's b")
		g.says(t, product(cutA(a, s, 32), b, s), "the terms from k = 32 on are missing")
		g.says(t, product(strided(a, s.M, s.K, s.N), b, s), "the rows of a are taken N apart; a is [batch, m, k], so the next row is K further")
		if transB {
			g.says(t, product(a, strided(b, s.N, s.K, s.N), s), "the rows of b are taken N apart; b is [batch, n, k], so the next row is K further")
		} else {
			g.says(t, product(a, strided(b, s.K, s.N, s.K), s), "the rows of b are taken K apart; b is [batch, k, n], so the next row is N further")
		}
		square := give(t, op, false, 2, 17, 17, 17)
		square.says(t, product(square.in[1].Data, square.in[0].Data, square.c.Gemm(transB)), "a and b exchanged")
		columns := append([]float32{}, right...)
		rows := append([]float32{}, right...)
		batches := append([]float32{}, right...)
		for i := range right {
			if i%s.N >= 64 {
				columns[i] = 0
			}
			if i/s.N%s.M >= 32 {
				rows[i]++
			}
			if i >= s.M*s.N {
				batches[i] = -batches[i]
			}
		}
		g.says(t, columns, "only the columns from 64 on are wrong: the last partial tile")
		g.says(t, rows, "only the rows from 32 on are wrong")
		g.says(t, batches, "the first product of the batch is right")
	}
}

func TestTheOracleKnowsSmallAttentions(t *testing.T) {
	ln3 := float32(math.Log(3))
	s := attn.Shape{Batch: 1, Heads: 1, KVHeads: 1, SeqQ: 2, SeqK: 2, Dim: 1, Causal: true}
	out, _ := Attention64([]float32{1, 1}, []float32{0, ln3}, []float32{8, 4}, s, Deviation{})
	assert.InDeltaSlice(t, []float64{8, 5}, out, 1e-6)
	// Two query heads that share one key head.
	s = attn.Shape{Batch: 1, Heads: 2, KVHeads: 1, SeqQ: 1, SeqK: 1, Dim: 2}
	out, _ = Attention64([]float32{1, 2, 3, 4}, []float32{1, 1}, []float32{5, 6}, s, Deviation{})
	assert.InDeltaSlice(t, []float64{5, 6, 5, 6}, out, 1e-12)
}
