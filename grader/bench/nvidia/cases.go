package nvidia

import (
	"cmp"
	"fmt"
	"slices"

	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/run"
)

// few is how many cases of each check run under compute-sanitizer, which makes
// them ten to a hundred times slower.
const few = 4

// Small takes the smallest cases that are larger than a block's corner case: the
// tools are slow, and a case of a single element tells little.
func Small(cases []rubric.Case) []rubric.Case {
	cases = slices.DeleteFunc(cases, func(k rubric.Case) bool { return k.GPU })
	slices.SortStableFunc(cases, func(a, b rubric.Case) int { return cmp.Compare(run.Elements(a), run.Elements(b)) })
	larger := slices.DeleteFunc(slices.Clone(cases), func(k rubric.Case) bool { return run.Elements(k) < 256 })
	if len(larger) == 0 {
		larger = cases
	}
	return larger[:min(few, len(larger))]
}

// Largest takes the case with the most work of each check.
func Largest(cases []rubric.Case) []rubric.Case {
	if len(cases) == 0 {
		return nil
	}
	return []rubric.Case{slices.MaxFunc(cases, func(a, b rubric.Case) int { return cmp.Compare(run.Elements(a), run.Elements(b)) })}
}

// Failures are the cases that returned an error or never an answer, a line each; of a stopped
// kernel the finding tells.
func Failures(it *run.Watched) (lines []string) {
	came, err := it.Errors()
	if err != nil {
		return []string{fmt.Sprintf("the worker's replies cannot be read: %v", err)}
	}
	for _, name := range it.Names {
		switch e, answered := came[name]; {
		case !answered:
			lines = append(lines, name+": no answer, so it was not looked at")
		case e != nil:
			lines = append(lines, fmt.Sprintf("%s: %s", name, e.Error()))
		}
	}
	return lines
}
