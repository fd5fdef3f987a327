package b5

import (
	"fmt"
	"strings"

	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/tasks/shared"
	"flashlab/tensor"
)

// Baseline is the product alone, of weights that were decoded offline.
const Baseline = "weights in halves, cuBLAS"

// Wide is the same in float32, for comparison.
const Wide = "weights in float32, cuBLAS"

// timed is what timing needs. Its weights are of any bits: nobody could quantise so many in time.
func timed(f format, name string) *judge.Timed {
	return &judge.Timed{
		Title: func(n []int, _ bool) (string, string) {
			format, outputs := strings.TrimPrefix(name, "project_"), (n[3]+2*n[4])*n[5]
			return fmt.Sprintf("%s, %d rows of %d to %d outputs", strings.ToUpper(format), n[1], n[2], outputs),
				fmt.Sprintf("project-%s-%d-%d-%d", format, n[1], n[2], outputs)
		},
		Small: []int{1, 3, 128, 2, 1, 16},
		// q is as large as x: these are copied.
		SelfTest:          rubric.Rung{Op: name, Shape: []int{1, 1 << 15, 4096, 32, 8, 128}},
		Baseline:          Baseline,
		Wide:              Wide,
		Tensor:            1,
		BaselineElsewhere: true,
		Piece:             func(c problem.Problem) int { return c.Sizes["dim"] },
		FLOPS: func(c problem.Problem) float64 {
			p := projection{Problem: c}
			return 2 * float64(p.rows()) * float64(p.outputs()) * float64(c.Sizes["hidden"])
		},
		Held: func(c problem.Problem) int64 {
			p := projection{Problem: c}
			return 4 * int64(p.outputs()+p.rows()) * int64(c.Sizes["hidden"])
		},
		// A piece is one head of q, for one token.
		Truth: func(c problem.Problem, from int) judge.Truth {
			return f.pieceOf(c, shared.QKVOf(c, nil).PieceAt(from))
		},
		Rest: func(c problem.Problem, from int) ([]judge.Span, func([][]float32) string) {
			return shared.QKVOf(c, nil).Rest(from, func(at shared.Piece) judge.Truth { return f.pieceOf(c, at) })
		},
	}
}

// pieceOf is the truth of a head of one token.
func (f format) pieceOf(c problem.Problem, at shared.Piece) judge.Truth {
	places, dim, hidden := shared.QKVOf(c, nil), c.Sizes["dim"], c.Sizes["hidden"]
	column := places.Column(at)
	first, count := column*hidden, dim*hidden
	w := f.of([][]float32{judge.InputPart(c, 1, first, count), judge.InputPart(c, 2, first/f.block, count/f.block)}, count, hidden)
	one := c
	one.Sizes = map[string]int{"batch": 1, "seq": 1}
	p := projection{one, w, judge.InputPart(c, 0, places.Row(at)*hidden, hidden), judge.InputPart(c, 3, column, dim)}
	t := p.truth(w.numbers())
	t.Type = tensor.Float16
	return t
}
