package judge

import (
	"fmt"
	"strings"

	"flashlab/grader/grading/problem"
	"flashlab/tensor"
)

// The steps of task 1 that only move numbers: results must be exact.

// JudgeExact wants every element as it is in want, bit for bit but for the sign of 0.
func JudgeExact(c problem.Problem, in []*tensor.Tensor, got, want []float32, known ...Mistake) Ruling {
	wrong, first := 0, 0
	for i, w := range want {
		if got[i] != w { // true for NaN
			if wrong == 0 {
				first = i
			}
			wrong++
		}
	}
	if wrong == 0 {
		return Ruling{Passed: true}
	}
	shape := c.Outputs[0].Shape
	v := Ruling{Reason: fmt.Sprintf("%d of %d elements are wrong", wrong, len(want))}
	if AllZero(got) {
		v.Reason = "every element is 0"
	}
	if says := Exactly(got, want, known...); says != "" {
		v.Reason = says
	}
	at := strings.ReplaceAll(tensor.ShapeString(tensor.Index(shape, first)), ", ", "][")
	v.Details = []string{
		fmt.Sprintf("%s %s to %s, inputs %s", c.Inputs[0].Name, tensor.ShapeString(in[0].Shape), tensor.ShapeString(shape), c.Dist),
		fmt.Sprintf("first at %s%s: got %s, want %s", c.Outputs[0].Name, at, Number(float64(got[first])), Number(float64(want[first]))),
	}
	return v
}

func Same32(a, b []float32) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

func AllZero(x []float32) bool {
	for _, v := range x {
		if v != 0 {
			return false
		}
	}
	return true
}
