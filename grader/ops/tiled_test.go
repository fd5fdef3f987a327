package ops

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"flashlab/attn"
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

var tiledExamples = []example{
	{tiled, []int{17, 17, 5, 3, 2}, tensor.Normal, true},
	{tiled, []int{17, 113, 16, 8, 16}, tensor.Normal, false},
	{tiled, []int{113, 113, 33, 13, 11}, tensor.Large, false},
	{tiled, []int{113, 113, 33, 11, 13}, tensor.Large, true},
	{tiled, []int{113, 113, 64, 32, 64}, tensor.OneHot, false},
	{tiled, []int{200, 113, 64, 32, 64}, tensor.Uniform, false},
	{tiled, []int{113, 113, 64, 32, 64}, tensor.Equal, false},
}

func TestFloat32PassesTiled(t *testing.T) {
	for _, e := range tiledExamples {
		bad := 0
		for seed := range uint64(100) {
			c, in := e.inputs(t, seed)
			v := e.judge(c, in, online32(c.Tiled(), in[0].Data, in[1].Data, in[2].Data, e.shape[4]))
			if !v.Passed {
				bad++
			}
		}
		assert.Zero(t, bad, "%v", e)
	}
}
