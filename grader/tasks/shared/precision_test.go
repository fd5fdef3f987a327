package shared

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"flashlab/grader/grading/judge/judgetest"
	"flashlab/tensor"
)

var attentions = []judgetest.Example{
	judgetest.Of(Flash, []int{1, 1, 1, 1, 1}, tensor.Normal, false), judgetest.Of(Flash, []int{1, 1, 2, 2, 2}, tensor.Normal, true),
	judgetest.Of(Flash, []int{1, 2, 17, 113, 33}, tensor.Normal, false), judgetest.Of(Flash, []int{1, 1, 113, 113, 128}, tensor.Normal, true),
	judgetest.Of(Flash, []int{1, 1, 3, 1000, 16}, tensor.Normal, false), judgetest.Of(Flash, []int{1, 2, 33, 257, 32}, tensor.Large, true),
	judgetest.Of(Flash, []int{1, 2, 33, 65, 32}, tensor.OneHot, false), judgetest.Of(Flash, []int{1, 1, 17, 129, 65}, tensor.Equal, false),
	judgetest.Of(Flash, []int{1, 2, 33, 17, 16}, tensor.Normal, true), judgetest.Of(Flash, []int{2, 2, 64, 64, 64}, tensor.Uniform, false),
}

func TestFloat32PassesAttentionAndLessDoesNot(t *testing.T) {
	for _, e := range attentions {
		for seed := range uint64(3) {
			c, in := e.Inputs(t, seed)
			q, k, v, s := in[0].Data, in[1].Data, in[2].Data, c.Attention()
			plain := e.Judge(c, in, Attention32(q, k, v, s))
			assert.True(t, plain.Passed, "plain %v seed %d: %v", e, seed, plain)
			for _, a := range judgetest.Honest {
				j := e.Judge(c, in, a.Attention(q, k, v, s))
				assert.True(t, j.Passed, "%s %v seed %d: %v", a.Name, e, seed, j)
			}
			if e.Dist != tensor.Normal || s.SeqK < 100 {
				continue // one-hot rows lose nothing by rounding probabilities
			}
			for _, a := range judgetest.Dishonest {
				j := e.Judge(c, in, a.Attention(q, k, v, s))
				assert.False(t, j.Passed, "%s %v seed %d", a.Name, e, seed)
				assert.Contains(t, j.Reason, "nearly right", a.Name)
			}
		}
	}
}

var products = []judgetest.Example{
	judgetest.Of(Gemm("gemm_nt", true), []int{1, 1, 1, 1}, tensor.Normal, false), judgetest.Of(Gemm("gemm_nn", false), []int{1, 2, 2, 2}, tensor.Normal, false),
	judgetest.Of(Gemm("gemm_nt", true), []int{3, 17, 113, 5}, tensor.Normal, false), judgetest.Of(Gemm("gemm_nn", false), []int{2, 33, 31, 65}, tensor.Large, false),
	judgetest.Of(Gemm("gemm_nn", false), []int{1, 5, 3, 1000}, tensor.Uniform, false), judgetest.Of(Gemm("gemm_nt", true), []int{1, 1, 3, 113}, tensor.OneHot, false),
}

func TestFloat32PassesProductsAndLessDoesNot(t *testing.T) {
	for _, e := range products {
		for seed := range uint64(30) {
			c, in := e.Inputs(t, seed)
			s := c.Gemm(e.Op.Name == "gemm_nt")
			x, y := in[0].Data, in[1].Data
			for _, a := range judgetest.Honest {
				j := e.Judge(c, in, a.Gemm(x, y, s))
				assert.True(t, j.Passed, "%s %v seed %d: %v", a.Name, e, seed, j)
			}
			for _, a := range judgetest.Dishonest {
				if a.Name == "float16 probabilities" || s.K < 5 {
					continue // one term alone may be lucky
				}
				assert.False(t, e.Judge(c, in, a.Gemm(x, y, s)).Passed, "%s %v seed %d", a.Name, e, seed)
			}
		}
	}
}
