package pages

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device/trace"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/verdict"
)

// TestFindingsLeadToTheSource: each link on a feedback page leads to an id that is there once, and findings,
// lines that cost traffic and what is said beside the source lead to each other.
func TestFindingsLeadToTheSource(t *testing.T) {
	linked, back, costly := 0, 0, 0
	for name, page := range written(t, sample(t, 60)) {
		if filepath.Base(name) != Feedback {
			continue
		}
		for _, m := range regexp.MustCompile(`href="#([^"]*)"`).FindAllStringSubmatch(page, -1) {
			assert.Equal(t, 1, strings.Count(page, fmt.Sprintf(`id="%s"`, m[1])), "%s: %s", name, m[1])
		}
		linked += len(regexp.MustCompile(`<a href="#task2-f0-46">task2_unfused/kernels.cu:46:15: race`).FindAllString(page, -1))
		costly += len(regexp.MustCompile(`<code><a href="#task2-f0-62">kernels.cu:62</a>: a warp`).FindAllString(page, -1))
		back += len(regexp.MustCompile(`<p>race on shared memory partial\[0\] \(4 bytes\) <a href="#task2-c0-b0" aria-label="[a-z ]*">back</a>`).FindAllString(page, -1))
	}
	assert.Positive(t, linked)
	assert.Positive(t, costly)
	assert.Positive(t, back)
}

func TestTheSourceAroundAFinding(t *testing.T) {
	a := annotatedOf(&rubric.Task{Name: "2", Dir: "task2_unfused"}, handed(`// <script>alert(1)</script>`))
	race := verdict.Found{Case: "17x113", Finding: trace.Finding{Kind: "race", File: "task2_unfused/kernels.cu", Line: 46, Message: "race on x", Sides: []trace.Side{
		{File: "task2_unfused/kernels.cu", Line: 43, Op: "write"}, {File: "task2_unfused/kernels.cu", Line: 46, Op: "read"}}}}
	assert.Equal(t, "task2-f0-46", a.found(race, "task2-c0-b0"))
	where, text, goes := a.reason("kernels.cu:62: a warp's request", "p")
	assert.Equal(t, []string{"kernels.cu:62", "a warp's request", "task2-f0-62"}, []string{where, text, goes}, "by the name in its folder")
	for _, no := range []string{"kernels.cu:81: past the end", "provided.cuh:3: not the student's", "../../kernels.cu:3: outside", "no place"} {
		where, text, goes = a.reason(no, "p")
		assert.Equal(t, []string{"", no, ""}, []string{where, text, goes})
	}
	files := a.rows()
	require.Len(t, files, 1)
	var shown []int
	for _, r := range files[0].Rows {
		shown = append(shown, r.Number+1000*r.Left)
	}
	assert.Equal(t, []int{39000, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 9000, 59, 60, 61, 62, 63, 64, 65, 15000}, shown)
	assert.Equal(t, []remark{{"the other side of the race in line 46 (write)", "task2-c0-b0"}}, files[0].Rows[4].Remarks)
	assert.Equal(t, "task2-f0-46", files[0].Rows[7].ID)
}

func TestTheSourceIsBounded(t *testing.T) {
	a := annotatedOf(&rubric.Task{Name: "2", Dir: "task2_unfused"}, map[string][]byte{"task2_unfused/kernels.cu": []byte(strings.Repeat(strings.Repeat("<", 5000)+"\n", 900))})
	for n := range 900 {
		for range 20 {
			a.found(verdict.Found{Finding: trace.Finding{File: "task2_unfused/kernels.cu", Line: 1 + n, Message: "race"}}, "b")
		}
	}
	marked, size := 0, 0
	for _, r := range a.rows()[0].Rows {
		if r.ID != "" {
			marked++
			assert.LessOrEqual(t, len(r.Remarks), mostRemarks)
			assert.Equal(t, 20-mostRemarks, r.More)
		}
		for _, s := range r.Code {
			size += len(s.Text)
		}
	}
	assert.Equal(t, mostSpots, marked)
	assert.Less(t, size, 20_000)
}

// TestTheSourceTellsNothingOfAHiddenCase: of a finding that only a hidden case shows the page has place and
// kind, beside the source as above it.
func TestTheSourceTellsNothingOfAHiddenCase(t *testing.T) {
	in := sample(t, 20)
	for _, r := range in.Class.Records {
		for i := range r.Tasks {
			for j := range r.Tasks[i].Result.Checks {
				for k := range r.Tasks[i].Result.Checks[j].Findings {
					f := &r.Tasks[i].Result.Checks[j].Findings[k]
					f.Case, f.Sides = "", []trace.Side{{File: f.File, Line: 31, Op: "write", Thread: [3]int{77, 0, 0}}, {File: f.File, Line: f.Line, Op: "read"}}
				}
			}
		}
	}
	in.Entries = in.Class.Entries()
	shown := 0
	for name, page := range written(t, in) {
		if filepath.Base(name) == Feedback {
			for _, no := range []string{"partial[0] (4 bytes)", "82169", "77,0,0", "other side", "-31\"", "thread (", "barrier is needed"} {
				assert.False(t, strings.Contains(page, no), "%s: %s", name, no)
			}
			shown += strings.Count(page, `<p>race, in a hidden case <a href="#task2-c`)
		}
	}
	assert.Positive(t, shown)
}
