package gradebook

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/class/course"
	"flashlab/grader/class/record"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/verdict"
)

func TestScaledPoints(t *testing.T) {
	c := Class{Course: parsed(t, "[task.2]\npoints = 8.0\n"), Rubrics: rubrics, Records: []*record.Record{attempt("a", 1, "", part("2", "x", 0.5))}}
	e := grades(c)["a"]
	assert.InDelta(t, 3, e.Points, 1e-9)
	assert.InDelta(t, 2, e.GPU, 1e-9)
	assert.InDelta(t, 2, e.NotGraded, 1e-9, "task 1 was not graded")
	g := c.Gradescope(e)
	require.Len(t, g.Tests, 1)
	assert.Equal(t, []float64{3, 3, 6}, []float64{g.Score, g.Tests[0].Score, g.Tests[0].MaxScore}, "results.json agrees with itself")
	feedback := c.Feedback(e)
	assert.Contains(t, feedback, "| 2: Unfused | 3 | 6 |")
	assert.Contains(t, feedback, "3 of 6 points measured here; 2 need a GPU")
	assert.Contains(t, feedback, "| Softmax | 3 of 6")
	results, err := c.Results(e)
	require.NoError(t, err)
	assert.Contains(t, results, "| 3 | 8 |", "and so does Results.md")
}

// A record outlives its rubric: what it measured has today's points, and what it lacks is named.
func TestPointsFollowTheRubricWithoutGrading(t *testing.T) {
	p := part("2", "x", 0)
	p.Result.Checks[0].Cases = []verdict.Outcome{{Name: "a", Shape: []int{1}, Weight: 1, Passed: true}, {Name: "b", Shape: []int{2}, Weight: 1}, {Name: "gone", Weight: 2, Passed: true}}
	p.Result.Checks[0].Parts[1] = verdict.Part{Name: "speed", Score: 0, Max: 1, Ratio: 0.5, Note: "0.50 × the speed of x (full from 1 on): y"}
	now := *byName("2")
	now.Points, now.Shares, now.Speed = 10, rubric.Shares{Correctness: 0.8, Speed: 0.2}, rubric.Curve{None: 0.1, Full: 1}
	now.Checks = []rubric.Check{{ID: "softmax", Title: "Softmax", Points: 10, Cases: []rubric.Case{{Name: "a", Shape: []int{1}, Weight: 3}, {Name: "b", Shape: []int{2}, Weight: 1}}}}
	c := Class{Course: parsed(t, "tasks = [2]\n"), Rubrics: []*rubric.Task{&now}, Records: []*record.Record{attempt("a", 1, "", p)}}
	e := grades(c)["a"]
	assert.InDelta(t, 8*0.75+1.39, e.Points, 1e-9, "the weight of a has changed, and one case is gone")
	assert.InDelta(t, 10, e.Of, 1e-9)
	assert.Empty(t, e.Tasks[0].Stale)

	c.Course.Speed = &course.Speed{None: 0.1, Full: 0.5}
	assert.InDelta(t, 8, grades(c)["a"].Points, 1e-9, "the course's own curve")
	assert.Contains(t, c.Feedback(grades(c)["a"]), "full from 0.5 on")
	assert.Equal(t, rubric.Curve{None: 0.1, Full: 0.5}, c.SpeedOf(&now, now.Checks[0]), "which the plots draw, too")

	now.Checks[0].Cases = append(now.Checks[0].Cases, rubric.Case{Name: "c", Weight: 1})
	now.Checks[0].Cases[1].Shape = []int{3}
	e = grades(c)["a"]
	assert.Equal(t, []string{"softmax/b has changed", "softmax/c is new"}, e.Tasks[0].Stale)
	assert.Contains(t, strings.Join(e.Notes, "; "), "task 2: measured by an earlier rubric (softmax/b has changed, softmax/c is new): grader batch grades it again")
	assert.NotContains(t, c.Feedback(e), "earlier rubric", "that is the instructor's")
}
