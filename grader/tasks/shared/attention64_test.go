package shared

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"flashlab/attn"
	"flashlab/grader/grading/judge"
	"flashlab/tensor"
)

func TestADeviationIsRecognisedSooner(t *testing.T) {
	s := attn.Shape{Batch: 1, Heads: 2, KVHeads: 1, SeqQ: 17, SeqK: 40, Dim: 8, Causal: true}
	random := func(id uint32, n int) []float32 {
		x := make([]float32, n)
		assert.NoError(t, tensor.Fill(x, tensor.Normal, 1, id, 0))
		return x
	}
	q, k, v := random(1, s.QElements()), random(2, s.SeqK*s.Dim), random(3, s.SeqK*s.Dim)
	deviations := []Deviation{{}, {Keys: v}, {Values: k}, {Late: true}, {Forget: 16}, {ForgetSum: 16},
		{Sees: func(s attn.Shape, i, j int) bool { return s.Sees(i, j) && j < 39 }}}
	var outs [][]float32
	for _, c := range deviations {
		out, _ := Attention64(q, k, v, s, c)
		one := make([]float32, len(out))
		for i, x := range out {
			one[i] = float32(x)
		}
		near := slices.Clone(one)
		near[3] += 1e-5
		outs = append(outs, one, near)
	}
	outs = append(outs, make([]float32, s.QElements()))
	p, truth, found := AttentionOn(s, q, k, v), AttentionTruth(q, k, v, s), 0
	for i, got := range outs {
		for j, c := range deviations {
			want, _ := Attention64(q, k, v, s, c)
			same := truth.Recognise(got, judge.Judgement{}, p.mistake(c, "this")) == "this"
			off, wrong := away(got, want), away(got, truth.Want)
			alike := truth.Same(got, want) && !truth.Same(truth.Plain, want) && judge.Nearer*off < wrong
			assert.Equal(t, alike || off < judge.Explained*wrong, same, fmt.Sprint(i, j))
			if same {
				found++
			}
		}
	}
	assert.GreaterOrEqual(t, found, 2*(len(deviations)-1))
}

func away(got []float32, from []float64) (squares float64) {
	for i, w := range from {
		squares += (float64(got[i]) - w) * (float64(got[i]) - w)
	}
	return math.Sqrt(squares)
}
