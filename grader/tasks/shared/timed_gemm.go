package shared

import (
	"fmt"

	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
)

// timedGemm checks as many columns of a row at a time as divide its length, 64 at most.
func timedGemm(transB bool) *judge.Timed {
	piece := func(c problem.Problem) int {
		n := c.Sizes["n"]
		for p := min(64, n); ; p-- {
			if n%p == 0 {
				return p
			}
		}
	}
	op, kind := "gemm_nn", "NN"
	if transB {
		op, kind = "gemm_nt", "NT"
	}
	return &judge.Timed{
		Title: func(n []int, _ bool) (string, string) {
			sizes := fmt.Sprintf("%d × %d × %d", n[1], n[3], n[2])
			if n[0] > 1 {
				sizes = fmt.Sprintf("%d of %s", n[0], sizes)
			}
			return fmt.Sprintf("product %s, %s", kind, sizes), fmt.Sprintf("%s-%d-%d-%d-%d", op, n[0], n[1], n[3], n[2])
		},
		Baseline: "cuBLAS",
		Tensor:   3,
		Small:    []int{2, 17, 33, 19},
		SelfTest: softmaxSelfTest,
		Piece:    piece,
		Truth: func(c problem.Problem, from int) judge.Truth {
			s, columns := c.Gemm(transB), piece(c)
			row, column := from/s.N, from%s.N
			batch := row / s.M
			one := s
			one.Batch, one.M, one.N, one.TransB = 1, 1, columns, false
			b := make([]float32, s.K*columns)
			for k := range s.K {
				if !transB {
					copy(b[k*columns:], judge.InputPart(c, 1, (batch*s.K+k)*s.N+column, columns))
				}
			}
			if transB {
				one.TransB = true
				b = judge.InputPart(c, 1, (batch*s.N+column)*s.K, columns*s.K)
			}
			return GemmTruth(judge.InputPart(c, 0, row*s.K, s.K), b, one)
		},
		FLOPS: func(c problem.Problem) float64 {
			s := c.Gemm(transB)
			return 2 * float64(s.Batch) * float64(s.M) * float64(s.N) * float64(s.K)
		},
	}
}
