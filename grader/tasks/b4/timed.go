package b4

import (
	"fmt"

	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/tasks/shared"
	"flashlab/tensor"
)

// Baseline is the product alone, by the vendor's library.
const Baseline = "the product in halves, cuBLAS"

// Wide is the same in float32, for comparison.
const Wide = "the product in float32, cuBLAS"

// timed is what timing needs.
func timed(name string, ty tensor.Type) *judge.Timed {
	return &judge.Timed{
		Title: func(n []int, _ bool) (string, string) {
			return fmt.Sprintf("q, k and v of %d × %d rows, hidden %d, %d and %d heads × %d, %s", n[0], n[1], n[2], n[3], n[4], n[5], ty),
				fmt.Sprintf("qkv-%d-%d", n[0], n[1])
		},
		Counted: 2,
		Small:   []int{2, 3, 72, 4, 2, 16, headsFirst, withBias},
		// q is as large as x: these are copied.
		SelfTest:          rubric.Rung{Op: name, Shape: []int{1, 1 << 15, 4096, 32, 4, 128, headsFirst, withBias}},
		Baseline:          Baseline,
		Wide:              Wide,
		Tensor:            1,
		BaselineElsewhere: true,
		Piece:             func(c problem.Problem) int { return c.Sizes["dim"] },
		FLOPS: func(c problem.Problem) float64 {
			p := placesOf(c, nil)
			return 2 * float64(p.Rows()) * float64(p.Outputs()) * float64(c.Sizes["hidden"])
		},
		Held: func(c problem.Problem) int64 {
			p, hidden := placesOf(c, nil), int64(c.Sizes["hidden"])
			rows, outputs := int64(p.Rows()), int64(p.Outputs())
			return 4 * (rows*hidden + hidden*outputs + rows*outputs)
		},
		// A piece is one head of q, for one token.
		Truth: func(c problem.Problem, from int) judge.Truth {
			return pieceOf(c, ty, placesOf(c, nil).PieceAt(from))
		},
		Rest: func(c problem.Problem, from int) ([]judge.Span, func([][]float32) string) {
			return placesOf(c, nil).Rest(from, func(at shared.Piece) judge.Truth { return pieceOf(c, ty, at) })
		},
	}
}

// pieceOf is the truth of a head of one token.
func pieceOf(c problem.Problem, ty tensor.Type, at shared.Piece) judge.Truth {
	p, hidden := placesOf(c, nil), c.Sizes["hidden"]
	row, column := p.Row(at), p.Column(at)
	one := projection{given: c, ty: ty, hidden: hidden, x: judge.InputPart(c, 0, row*hidden, hidden)}
	for i := range hidden {
		one.w = append(one.w, judge.InputPart(c, 1, i*p.Outputs()+column, p.Dim)...)
	}
	one.QKV.Batch, one.QKV.Seq, one.QKV.Heads, one.QKV.Dim = 1, 1, 1, p.Dim
	if c.Sizes["bias"] != noBias {
		one.QKV.Bias = judge.InputPart(c, 2, column, p.Dim)
	}
	return one.truth()
}
