package gradebook

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device/trace"
	"flashlab/grader/class/record"
	"flashlab/grader/grading/verdict"
)

// raced is a class of one, with a race in a case; "" is a hidden one.
func raced(t *testing.T, name string) (Class, Entry) {
	p := part("1", "x", 0.5)
	f := verdict.Found{Case: name, Finding: trace.Finding{Check: "racecheck", Kind: "race", Kernel: "softmax", File: "task2_unfused/kernels.cu", Line: 46, Column: 15, Source: "    largest = partial[0];",
		Message: "race on shared memory partial[331] (4 bytes)", Notes: []string{"thread (3,0,0) wrote it at kernels.cu:43"}, Hint: "a barrier is needed", Count: 9639, Thread: &[3]int{3, 0, 0}}}
	if name != "" {
		f.Again = "make grade TASK=2 CASE=softmax/" + name + " SEED=7 THREAD=3,0,0"
	}
	p.Result.Checks[0].Findings = []verdict.Found{f}
	c := Class{Course: parsed(t, text0), Rubrics: rubrics, Records: []*record.Record{attempt("a", 1, "", p)}}
	return c, grades(c)["a"]
}

func TestFeedbackHasAllOfAFinding(t *testing.T) {
	c, e := raced(t, "17x113")
	feedback := c.Feedback(e)
	for _, want := range []string{"task2_unfused/kernels.cu:46:15: race on shared memory partial[331] (4 bytes)", "  46 |     largest = partial[0];", "               ^", "thread (3,0,0) wrote it",
		"seen 9639 times", "hint: a barrier is needed", "make grade TASK=2 CASE=softmax/17x113 SEED=7 THREAD=3,0,0"} {
		assert.Contains(t, feedback, want)
	}
}

// A finding that only a hidden case shows would tell what the case is.
func TestOfAHiddenFindingStudentsReadPlaceAndKind(t *testing.T) {
	c, e := raced(t, "")
	results, err := json.Marshal(c.Gradescope(e))
	require.NoError(t, err)
	whole, err := c.Results(e)
	require.NoError(t, err)
	for name, text := range map[string]string{"feedback.md": c.Feedback(e), "Results.md": whole} {
		assert.Contains(t, text, "task2_unfused/kernels.cu:46:15: race, in a hidden case", name)
	}
	for name, text := range map[string]string{"feedback.md": c.Feedback(e), "results.json": string(results), "Results.md": whole} {
		for _, no := range []string{"331", "9639", "(3,0,0)", "4 bytes"} {
			assert.NotContains(t, text, no, name)
		}
	}
	assert.Contains(t, e.Tasks[0].Part.Result.Checks[0].Findings[0].Message, "partial[331]", "the instructor has all of it")
}
