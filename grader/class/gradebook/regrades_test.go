package gradebook

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"flashlab/grader/class/record"
	"flashlab/grader/grading/handin"
)

func TestARequestStandsUntilItIsAnsweredOrWithdrawn(t *testing.T) {
	ask := handin.Request{Task: "2", Check: "softmax", Case: "a", Receipt: "abab abab abab", Reason: "it is *right*"}
	first := attempt("a", 1, "", part("2", "x", 0.5))
	first.Submission.Requests = []handin.Request{ask}
	first.Group = []record.Student{{ID: "b"}}
	c := Class{Course: parsed(t, text0), Rubrics: rubrics, Records: []*record.Record{first}}
	e := grades(c)
	assert.Equal(t, 1, OpenRequests(c.Entries()), "a group asks once")
	assert.Equal(t, first, e["b"].Asked[0].About)
	id := e["a"].Asked[0].ID
	assert.Contains(t, c.Feedback(e["b"]), "Regrade request "+id+", 2/softmax/a: awaits an answer.")
	assert.Contains(t, strings.Join(e["a"].Notes, "; "), "1 regrade request without an answer")

	second := attempt("a", 2, "", part("2", "y", 1))
	second.Submission.SHA256 = strings.Repeat("cd", 32)
	c.Records = append(c.Records, second)
	assert.Empty(t, grades(c)["a"].Asked, "the last attempt has it no more")
	c.Tables.Answers = []Answer{{Request: id, Text: "Row 3 is *wrong*.", By: "kt", place: place{"regrades.csv", 2}}, {Request: "00000000", Text: "?", place: place{"regrades.csv", 3}}}
	e = grades(c)
	assert.Len(t, e["a"].Asked, 1, "an answer is read for good")
	assert.Zero(t, OpenRequests(c.Entries()))
	assert.Contains(t, c.Feedback(e["a"]), `2/softmax/a: Row 3 is \*wrong\*.`)
	assert.Contains(t, c.Gradescope(e["a"]).Output, "Row 3 is *wrong*.")
	assert.Contains(t, c.Notices(c.Entries()), "regrades.csv:3: ignored: there is no request 00000000")

	ask.Receipt = "ffff ffff ffff"
	second.Submission.Requests = []handin.Request{ask}
	e = grades(c)
	assert.Len(t, e["a"].Asked, 2, "about another hand-in, it is another request")
	assert.Nil(t, e["a"].Asked[1].About)
}

// Points that are scaled are thousandths that add up to the whole, whatever they are divided by.
func TestSharesAddUp(t *testing.T) {
	for _, points := range []float64{0.7, 1, 1.9, 7, 8, 100} {
		for _, worth := range [][]float64{{1}, {1, 1, 1}, {0.35, 0.05, 0.6}, {3, 0, 2, 1, 1}, {0.1, 0.2, 0.3, 0.15, 0.05, 0.25}} {
			sum := 0
			for i, part := range share(points, worth) {
				thousandths := int(part*1000 + 0.5)
				assert.InDelta(t, float64(thousandths)/1000, part, 1e-12)
				assert.True(t, worth[i] > 0 || part == 0)
				sum += thousandths
			}
			assert.Equal(t, int(points*1000+0.5), sum, "%v by %v", points, worth)
		}
	}
	assert.Equal(t, []float64{0, 0}, share(1, []float64{0, 0}))
}
