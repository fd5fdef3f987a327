package shared

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"flashlab/attn"
	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/judge/judgetest"
	"flashlab/tensor"
)

func TestAWindowsMistakesAreNamed(t *testing.T) {
	g := give(t, FlashWindow, true, 1, 2, 137, 161, 33, 37)
	assert.True(t, g.Judge(g.c, g.in, g.deviation(Deviation{})).Passed)
	for _, m := range AttentionOn(g.c.Attention(), g.in[0].Data, g.in[1].Data, g.in[2].Data).mistakes() {
		g.says(t, judge.Narrow(m.Whole()), m.Says)
	}
	plain := give(t, Flash, true, 1, 2, 17, 17, 8)
	for _, m := range AttentionOn(plain.c.Attention(), plain.in[0].Data, plain.in[1].Data, plain.in[2].Data).mistakes() {
		assert.NotContains(t, m.Says, "window", "where there is none")
	}
}

func TestAWindowByHand(t *testing.T) {
	s := attn.Shape{Batch: 1, Heads: 1, KVHeads: 1, SeqQ: 3, SeqK: 4, Dim: 1, Causal: true, Window: 2}
	q, k, v := []float32{0, 0, 0}, []float32{1, 2, 3, 4}, []float32{1, 3, 9, 27}
	out, _ := Attention64(q, k, v, s, Deviation{})
	assert.InDeltaSlice(t, []float64{2, 6, 18}, out, 1e-12, "query i has the key i + 1, and sees it and the one before")
	s.Window = 9
	all, _ := Attention64(q, k, v, s, Deviation{})
	s.Window = 0
	plain, _ := Attention64(q, k, v, s, Deviation{})
	assert.Equal(t, plain, all, "a window beyond the first key hides none")
}

func TestTheLeastOfAWindowIsWhatSomeQuerySees(t *testing.T) {
	for _, shape := range [][]int{{2, 3, 5, 40, 4, 7}, {1, 1, 40, 40, 8, 1}, {1, 1, 9, 4, 3, 2}, {1, 1, 1, 50, 2, 50}, {1, 1, 3, 50, 2, 90}} {
		c, err := FlashWindow.Case(judge.Spec{Shape: shape, Dist: tensor.Normal, Causal: true}, 1, 1)
		assert.NoError(t, err)
		s, seen := c.Attention(), 0
		for j := range s.SeqK {
			for i := range s.SeqQ {
				if s.Sees(i, j) {
					seen++
					break
				}
			}
		}
		assert.Equal(t, uint64(4*(2*s.QElements()+2*s.Batch*s.KVHeads*seen*s.Dim)), FlashWindow.Least(c), "%v", s)
	}
}

func TestFloat32PassesAWindowAndLessDoesNot(t *testing.T) {
	for _, e := range []judgetest.Example{
		judgetest.Of(FlashWindow, []int{1, 1, 1, 1, 1, 1}, tensor.Normal, true), judgetest.Of(FlashWindow, []int{1, 2, 17, 113, 33, 40}, tensor.Normal, true),
		judgetest.Of(FlashWindow, []int{1, 1, 113, 113, 128, 64}, tensor.Normal, true), judgetest.Of(FlashWindow, []int{1, 2, 65, 129, 32, 17}, tensor.Large, true),
		judgetest.Of(FlashWindow, []int{1, 2, 33, 17, 16, 5}, tensor.Uneven, true), judgetest.Of(FlashWindow, []int{1, 1, 33, 65, 24, 1}, tensor.OneHot, true),
	} {
		for seed := range uint64(3) {
			c, in := e.Inputs(t, seed)
			q, k, v, s := in[0].Data, in[1].Data, in[2].Data, c.Attention()
			for _, a := range judgetest.Honest {
				j := e.Judge(c, in, a.Attention(q, k, v, s))
				assert.True(t, j.Passed, "%s %v seed %d: %v", a.Name, e, seed, j)
			}
			if e.Dist != tensor.Normal || s.Window < 40 {
				continue
			}
			for _, a := range judgetest.Dishonest {
				assert.False(t, e.Judge(c, in, a.Attention(q, k, v, s)).Passed, "%s %v seed %d", a.Name, e, seed)
			}
		}
	}
}

// TestATimedPieceIsOfTheWindow: the truth of one row is that of the whole.
func TestATimedPieceIsOfTheWindow(t *testing.T) {
	g := give(t, FlashWindow, true, 2, 2, 9, 7, 5, 3)
	s := g.c.Attention()
	want, _ := Attention64(g.in[0].Data, g.in[1].Data, g.in[2].Data, s, Deviation{})
	for row := range len(want) / s.Dim {
		assert.InDeltaSlice(t, want[row*s.Dim:(row+1)*s.Dim], timedWindow.Truth(g.c, row*s.Dim).Want, 1e-12, "row %d", row)
	}
}
