package judge

import (
	"fmt"
	"math"
	"slices"

	"flashlab/grader/grading/problem"
)

// JudgeRefused decides on a case that is wrong on purpose: it wants an error and
// unchanged outputs. call is what should have refused.
func JudgeRefused(c problem.Problem, out problem.Answer, call, why string, before ...[]float32) Ruling {
	changed := 0
	for i, t := range out.Tensors {
		for x, v := range t.Data {
			if v != before[i][x] && (v == v || before[i][x] == before[i][x]) {
				changed++
			}
		}
	}
	v := Ruling{Details: []string{fmt.Sprintf("%s, inputs %s", sizesOf(c), c.Dist)}}
	switch answered := out.Counts[problem.Errors] == 1; {
	case answered && changed == 0:
		return Ruling{Passed: true}
	case answered:
		v.Reason = fmt.Sprintf("%s returned an error, as it should (%s), but had written %d elements before: check first, then launch", call, why, changed)
	case changed == 0:
		v.Reason = fmt.Sprintf("%s returned no error: %s", call, why)
	default:
		v.Reason = fmt.Sprintf("%s returned no error, and wrote %d elements: %s", call, changed, why)
	}
	return v
}

// sizesOf names a case's sizes, and its numbers of single sequences.
func sizesOf(c problem.Problem) string {
	var names []string
	for name := range c.Sizes {
		names = append(names, name)
	}
	slices.Sort(names)
	text := ""
	for _, name := range names {
		text += fmt.Sprintf("%s = %d, ", name, c.Sizes[name])
	}
	return fmt.Sprintf("%sfor each sequence %v", text, c.Each)
}

// NoNumbers is what an output holds that was never written.
func NoNumbers(n int) []float32 { return slices.Repeat([]float32{math.Float32frombits(Poison)}, n) }
