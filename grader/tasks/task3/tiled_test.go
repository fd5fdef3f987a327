package task3

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"flashlab/attn"
	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/judge/judgetest"
	"flashlab/grader/tasks/shared"
	"flashlab/grader/tasks/task3/sizes"
	"flashlab/tensor"
)

// online32 is how a good program computes it: tile by tile in float32, with
// dot products in four lanes.
func online32(s attn.Shape, q, k, v []float32, bc int) []float32 {
	dim := s.Dim
	out := make([]float32, 0, len(q))
	scale := float32(1 / math.Sqrt(float64(dim)))
	for i := range s.SeqQ {
		m, l, o := float32(math.Inf(-1)), float32(0), make([]float32, dim)
		for key := 0; key < s.SeqK; key += bc {
			next := m
			var scores []float32
			for j := key; j < min(key+bc, s.SeqK) && s.Sees(i, j); j++ {
				var lanes [4]float32
				for x := range dim {
					lanes[x%4] += q[i*dim+x] * k[j*dim+x]
				}
				scores = append(scores, (lanes[0]+lanes[1]+(lanes[2]+lanes[3]))*scale)
				next = max(next, scores[len(scores)-1])
			}
			factor := float32(math.Exp(float64(m - next)))
			m = next
			l *= factor
			for x := range o {
				o[x] *= factor
			}
			for j, score := range scores {
				w := float32(math.Exp(float64(score - m)))
				l += w
				for x := range o {
					o[x] += w * v[(key+j)*dim+x]
				}
			}
		}
		for x := range o {
			out = append(out, o[x]/l)
		}
	}
	return out
}

var tiledExamples = []judgetest.Example{
	judgetest.Of(tiled, []int{17, 17, 5, 3, 2}, tensor.Normal, true),
	judgetest.Of(tiled, []int{17, 113, 16, 8, 16}, tensor.Normal, false),
	judgetest.Of(tiled, []int{113, 113, 33, 13, 11}, tensor.Large, false),
	judgetest.Of(tiled, []int{113, 113, 33, 11, 13}, tensor.Large, true),
	judgetest.Of(tiled, []int{113, 113, 64, 32, 64}, tensor.OneHot, false),
	judgetest.Of(tiled, []int{200, 113, 64, 32, 64}, tensor.Uniform, false),
	judgetest.Of(tiled, []int{113, 113, 64, 32, 64}, tensor.Equal, false),
}

func TestFloat32PassesTiled(t *testing.T) {
	for _, e := range tiledExamples {
		for seed := range uint64(8) {
			c, in := e.Inputs(t, seed)
			v := e.Judge(c, in, online32(sizes.Tiled(c), in[0].Data, in[1].Data, in[2].Data, e.Shape[4]))
			assert.True(t, v.Passed, "%v seed %d: %v %v", e, seed, v.Reason, v.Details)
		}
	}
}

func TestFewerBitsFailTiled(t *testing.T) {
	for _, e := range tiledExamples {
		c, in := e.Inputs(t, 1)
		q, k, v := in[0].Data, in[1].Data, in[2].Data
		inputs := online32(sizes.Tiled(c), judgetest.RoundedAll(q), judgetest.RoundedAll(k), judgetest.RoundedAll(v), e.Shape[4])
		assert.False(t, e.Judge(c, in, inputs).Passed, "inputs of 11 bits, %v", e)
		assert.False(t, e.Judge(c, in, judgetest.RoundedAll(online32(sizes.Tiled(c), q, k, v, e.Shape[4]))).Passed, "outputs of 11 bits, %v", e)
	}
}

func TestTiledPatterns(t *testing.T) {
	e := judgetest.Of(tiled, []int{33, 40, 16, 8, 8}, tensor.Normal, true)
	c, in := e.Inputs(t, 1)
	p := tiling{shared.AttentionOn(sizes.Tiled(c), in[0].Data, in[1].Data, in[2].Data)}
	nothing := math.Float32frombits(judge.Poison)
	for name, x := range map[string]struct {
		got  []float32
		want string
	}{
		"o":        {judge.Narrow(p.online(slip{o: func(float64) float64 { return 1 }}, 8, 8)), "o is not rescaled"},
		"l":        {judge.Narrow(p.online(slip{l: func(float64) float64 { return 1 }}, 8, 8)), "l is not rescaled"},
		"inverse":  {judge.Narrow(p.online(slip{o: func(f float64) float64 { return 1 / f }}, 8, 8)), "line 10"},
		"last":     {judge.Narrow(p.online(slip{keys: 32}, 8, 8)), "the keys from 32 on are missing"},
		"carry":    {judge.Narrow(p.online(slip{carry: true}, 8, 8)), "carried from one block"},
		"diagonal": {judge.Narrow(p.online(slip{diagonal: true}, 8, 8)), "its own diagonal"},
		"zeros":    {make([]float32, 33*16), "every element is 0"},
		"missing":  {append(judge.Narrow(p.online(slip{}, 8, 8))[:32*16], slices.Repeat([]float32{nothing}, 16)...), "the last one. Does the loop reach every block"},
		"all NaN":  {slices.Repeat([]float32{float32(math.NaN())}, 33*16), "the inverse, by mistake"},
	} {
		v := e.Judge(c, in, x.got)
		assert.False(t, v.Passed, name)
		assert.Contains(t, v.Reason, x.want, name)
		assert.Contains(t, v.Details[0], "q [33, 16], k [40, 16], v [40, 16], causal, br = 8, bc = 8", name)
	}
	assert.True(t, e.Judge(c, in, judge.Narrow(p.online(slip{}, 8, 8))).Passed)
}

func TestYardstick(t *testing.T) {
	s := attn.Shape{SeqQ: 100, SeqK: 100, Dim: 8}
	ample := 4 * (100*(2*8+4) + 8)
	assert.EqualValues(t, 4*4*100*8, Yardstick(s, ample), "everything once")
	assert.EqualValues(t, 4*(2*100*8+2*2*100*8), Yardstick(s, ample-4), "two blocks")
	s.Causal = true
	assert.EqualValues(t, 4*(2*100*8+2*50*8+2*100*8), Yardstick(s, ample-4), "the first of two blocks sees half")
}

func TestTiledRefuses(t *testing.T) {
	for _, s := range []judge.Spec{
		{Shape: []int{5, 4, 3, 1, 1}, Dist: tensor.Normal, Causal: true},
		{Shape: []int{5, 5, 3, 1, 1}, Dist: tensor.Masked, Causal: false},
		{Shape: []int{5, 5, 3, 0, 1}, Dist: tensor.Normal, Causal: false},
	} {
		_, err := tiled.Case(s, 1, 1)
		assert.Error(t, err, "%v", s)
	}
	_, err := chosenTiles.Case(judge.Spec{Shape: []int{5, 5, 16, 319}, Dist: tensor.Normal, Causal: false}, 1, 1)
	assert.ErrorContains(t, err, "the task promises 320")
}
