package b8

import (
	"fmt"

	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
	"flashlab/grader/grading/rubric"
)

// Baseline is the product alone, of weights that were decoded offline.
const Baseline = "weights in halves, cuBLAS"

// Wide is the same in float32, for comparison.
const Wide = "weights in float32, cuBLAS"

// timed is what timing needs. Its weights are of any bits: nobody could quantise so many in time.
func timed(isLaid bool) *judge.Timed {
	rows := 1
	if isLaid {
		rows = 16
	}
	return &judge.Timed{
		Title: func(n []int, _ bool) (string, string) {
			return fmt.Sprintf("INT4, %d rows of %d to %d outputs", n[0], n[1], n[2]), fmt.Sprintf("w4a16-%d-%d-%d", n[0], n[1], n[2])
		},
		Small: []int{rows, 128, 32},
		// x is as large as the codes: these are copied.
		SelfTest:          rubric.Rung{Op: "rows", Shape: []int{mostRows, 1 << 19, 256}},
		Baseline:          Baseline,
		Wide:              Wide,
		Tensor:            1,
		BaselineElsewhere: true,
		Piece:             func(problem.Problem) int { return tall },
		FLOPS: func(c problem.Problem) float64 {
			return 2 * float64(c.Sizes["rows"]) * float64(c.Sizes["n"]) * float64(c.Sizes["k"])
		},
		Held: func(c problem.Problem) int64 {
			return 4 * int64(c.Sizes["n"]+c.Sizes["rows"]) * int64(c.Sizes["k"])
		},
		// A piece is 16 outputs of one row of x.
		Truth: func(c problem.Problem, from int) judge.Truth {
			k, n := c.Sizes["k"], c.Sizes["n"]
			row, first := from/n, from%n
			f := factors(k, first)
			w := weightsOf(k, tall, judge.InputPart(c, 1, first*k, tall*k), judge.InputPart(c, 2, f, factors(k, tall)), judge.InputPart(c, 3, f, factors(k, tall)))
			if isLaid {
				w = w.unlaid(tall)
			}
			p := multiplication{c, w, judge.InputPart(c, 0, row*k, k), isLaid}
			return p.truth(w.numbers(reading{}))
		},
	}
}
