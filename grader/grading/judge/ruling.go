package judge

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"flashlab/grader/grading/problem"
	"flashlab/tensor"
)

// Ruling is what a student reads about one case.
type Ruling struct {
	Passed  bool
	Reason  string   // one sentence, "" if passed
	Details []string // where it went wrong
	// Error is that of the worst row of a case that passed, relative to the
	// row's size, and Bound what it might have been; 0 where bits are compared.
	Error, Bound float64
	Told         [][]string // rows of what Results.md reports of it, under the operation's columns
}

// Rule compares the first output with the truth. pattern may recognise a
// mistake that is the operation's own; "" leaves it to what fits every one.
func Rule(c problem.Problem, problem fmt.Stringer, t Truth, got []float32, pattern func(Judgement) string) Ruling {
	j := t.Judge(got)
	if j.Passed {
		return Ruling{Passed: true, Error: j.Error, Bound: j.Bound}
	}
	reason := emptiness(t, got)
	if reason == "" {
		reason = pattern(j)
	}
	if reason == "" {
		reason = General(t, got, j)
	}
	return Explain(c, problem, j, reason)
}

// Explain adds where an output is worst.
func Explain(c problem.Problem, problem fmt.Stringer, j Judgement, reason string) Ruling {
	v := Ruling{Reason: reason}
	out := c.Outputs[0]
	at := tensor.ShapeString(tensor.Index(out.Shape, j.Worst))
	v.Details = []string{
		fmt.Sprintf("%v, inputs %s", problem, c.Dist),
		fmt.Sprintf("worst at %s%s: got %s, want %s", out.Name, strings.ReplaceAll(at, ", ", "]["), Number(j.Got), Number(j.Want)),
	}
	if !math.IsInf(j.Error, 0) {
		v.Details = append(v.Details, fmt.Sprintf("error %.2g of the row's size, %.2g allowed (%s)", j.Error, j.Bound, cmp.Or(j.Times, plainTimes)))
	}
	return v
}

func Number(f float64) string {
	if f != 0 && math.Abs(f) < 1e-4 {
		return fmt.Sprintf("%.4e", f)
	}
	return fmt.Sprintf("%.6g", f)
}
