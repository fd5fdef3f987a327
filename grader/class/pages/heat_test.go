package pages

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/class/gradebook"
	"flashlab/grader/class/record"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/verdict"
)

func TestHeatCells(t *testing.T) {
	for share, want := range map[float64]heatCell{
		-1: {Step: "not", Text: "–", Says: "not measured"}, 0: {Step: "h0", Text: "0"}, 0.001: {Step: "h1", Text: "1"}, 0.2499: {Step: "h1", Text: "25"},
		0.25: {Step: "h2", Text: "25"}, 0.5: {Step: "h3", Text: "50"}, 0.75: {Step: "h4", Text: "75"}, 0.999: {Step: "h4", Text: "99"}, 1: {Step: "h5", Text: "100"}, 1.1: {Step: "h5", Text: "110"},
	} {
		assert.Equal(t, want, cellFor(share), "%v", share)
	}
}

func TestTheHeatMapIsOrdered(t *testing.T) {
	task := &rubric.Task{Name: "2"}
	entry := func(id string, checks ...gradebook.Check) gradebook.Entry {
		e := gradebook.Entry{Student: record.Student{ID: id}, Attempts: 1, Tasks: []gradebook.Task{{Rubric: task, Checks: checks}}}
		for _, k := range checks {
			e.Points, e.Of = e.Points+k.Points, e.Of+k.Of
		}
		return e
	}
	hard := func(points float64) gradebook.Check { return gradebook.Check{ID: "hard", Points: points, Of: 2} }
	easy := func(points float64) gradebook.Check { return gradebook.Check{ID: "easy", Points: points, Of: 1} }
	whole := entry("e", hard(0), easy(0))
	whole.Tasks[0].Whole = &gradebook.Override{Points: 3}
	held := gradebook.Check{ID: "easy", Awaiting: 1, Held: &verdict.Held{Reason: "the reason is not for the map"}}
	h := heatOf([]gradebook.Entry{
		{Student: record.Student{ID: "nothing"}, Tasks: whole.Tasks}, entry("a", hard(0), easy(0.5)), entry("b", hard(2), easy(1)),
		entry("c", hard(1), held), entry("d", gradebook.Check{ID: "hard", GPU: 2}, gradebook.Check{ID: "easy", NotGraded: 1}), whole,
	})
	assert.Equal(t, []string{"easy", "hard"}, []string{h.Checks[0].ID, h.Checks[1].ID}, "the one with the higher mean first")
	assert.Equal(t, []string{"75", "50"}, []string{h.Checks[0].Mean.Text, h.Checks[1].Mean.Text})
	shown := map[string]string{}
	var order []string
	for _, r := range h.Rows {
		order = append(order, r.Who)
		for _, c := range r.Cells {
			shown[r.Who] += c.Text + first(c.Says, "%") + ";"
		}
	}
	assert.Equal(t, []string{"b", "c", "a", "e", "d"}, order, "from the best share to the least, and then who has none")
	assert.Equal(t, map[string]string{"b": "100%;100%;", "c": "?awaits a person;50%;", "a": "50%;0%;", "d": "–not measured;–needs a GPU;",
		"e": "–a person decided on the task as a whole;–a person decided on the task as a whole;"}, shown)
	assert.Nil(t, heatOf(nil))
}

// TestTheHeatMapOfALargeClass has a cell for each student and check, each with its number as text.
func TestTheHeatMapOfALargeClass(t *testing.T) {
	in := sample(t, 200)
	page := written(t, in)[Report]
	from := strings.Index(page, `<table class="heat">`)
	require.Positive(t, from)
	table := page[from : from+strings.Index(page[from:], "</table>")]
	checks := 0
	for _, task := range in.Entries[0].Tasks {
		checks += len(task.Checks)
	}
	cells := regexp.MustCompile(`<td class="(h[0-5]|not|open)( first)?"><i( aria-hidden="true")?>([0-9]+|–|\?)</i>(<span class="away">[a-z A-Z]+</span>)?</td>`).FindAllString(table, -1)
	assert.Len(t, cells, 201*(checks+1), "and the students' shares of all, and the checks' means")
	assert.Equal(t, 201*(checks+1), strings.Count(table, "<td"))
	assert.Contains(t, page, `class="scroll heated dense"`)
	assert.NotContains(t, table, "<script")
	assert.Less(t, len(page), 2<<20)
	assert.NotContains(t, written(t, in)[Class], `<table class="heat">`, "whose row is whose would be known")
}
