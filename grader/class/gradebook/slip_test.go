package gradebook

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"flashlab/grader/class/course"
	"flashlab/grader/class/record"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/tasks/registry"
)

const slipText = `
timezone = "UTC"
deadline = "2026-11-10 12:00"
[late]
days = 2
percent = 10.0
slip = 3
`

func TestSlipDaysAreSpentWhereTheyHelpMost(t *testing.T) {
	c := Class{Course: parsed(t, slipText), Rubrics: rubrics}
	for name, one := range map[string]struct {
		when string
		want float64
		slip []int // of tasks 1 and 2
		says string
	}{
		"in time":          {"2026-11-10 11:00", 5, []int{0, 0}, ""},
		"1 day, both":      {"2026-11-11 11:00", 5, []int{1, 1}, "slip days: 2 of 3 spent, 1 left"},
		"2 days, both":     {"2026-11-12 11:00", 3 + 1.8, []int{1, 2}, "slip days: 3 of 3 spent, 0 left"},
		"5 days, both":     {"2026-11-15 11:00", 3 * 0.8, []int{0, 3}, "slip days: 3 of 3 spent, 0 left"},
		"too late for all": {"2026-11-16 11:00", 0, []int{0, 0}, "slip days: 0 of 3 spent, 3 left"},
	} {
		c.Records = []*record.Record{attempt("a", 1, one.when, part("1", "x", 1), part("2", "x", 1))}
		e := grades(c)["a"]
		assert.InDelta(t, one.want, e.Points, 1e-9, name)
		assert.Equal(t, one.slip, []int{e.Tasks[0].Slip, e.Tasks[1].Slip}, name)
		assert.Contains(t, e.Sentence(), one.says, name)
		assert.Contains(t, c.Feedback(e), one.says, name)
	}
	c.Records = []*record.Record{attempt("a", 1, "2026-11-12 11:00", part("1", "x", 1), part("2", "x", 1))}
	e := grades(c)["a"]
	assert.Contains(t, c.Feedback(e), "2 days late, 2 slip days spent, nothing taken")
	assert.Contains(t, c.Feedback(e), "2 days late, 1 slip day spent, 10 % taken")
	all := rows(t, c.CSV([]Entry{e}))
	assert.Equal(t, []string{"slip days spent", "slip days left", "notes"}, all[0][len(all[0])-3:])
	assert.Equal(t, []string{"3", "0"}, all[1][len(all[1])-3:len(all[1])-1])
}

func TestSlipDaysPickTheAttemptThatCounts(t *testing.T) {
	c := Class{Course: parsed(t, "attempt = \"best\"\ntasks = [1]\n"+slipText), Rubrics: rubrics, Records: []*record.Record{
		attempt("a", 1, "2026-11-09 12:00", part("1", "x", 0.95)), attempt("a", 2, "2026-11-11 11:00", part("1", "y", 1)),
	}}
	e := grades(c)["a"]
	assert.InDelta(t, 2, e.Points, 1e-9, "with a slip day the late one is better")
	assert.Equal(t, 1, e.Slip)
	c.Course.Late.Slip = 0
	e = grades(c)["a"]
	assert.InDelta(t, 1.9, e.Points, 1e-9)
	assert.NotContains(t, e.Sentence(), "slip")
}

func TestExtensionsComeBeforeSlipDays(t *testing.T) {
	c := Class{Course: parsed(t, slipText), Rubrics: rubrics, Records: []*record.Record{attempt("a", 1, "2026-11-13 11:00", part("1", "x", 1), part("2", "x", 1))}}
	c.Tables.Extensions = []Extension{{Student: "a", Until: *at("2026-11-12 12:00")}}
	e := grades(c)["a"]
	assert.InDelta(t, 5, e.Points, 1e-9)
	assert.Equal(t, 2, e.Slip)
}

// rank is what the rule looks at, the first thing first: told here once more, for the code could be wrong.
func rank(g gain) []float64 { return []float64{round(g.course), round(g.bonus), float64(-g.days)} }

// Whatever the tasks are worth and how late they are, no other way to spend the days gives more, and none gives the
// same with fewer days.
func TestNoOtherWayToSpendSlipDaysIsBetter(t *testing.T) {
	draw := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		c := Class{Course: &course.Course{Late: course.Late{Days: draw.IntN(4), Percent: float64(draw.IntN(5) * 10), Slip: draw.IntN(6)}}}
		var all [][]Task
		for range 4 {
			var candidates []Task
			for range 1 + draw.IntN(3) {
				candidates = append(candidates, Task{Rubric: &rubric.Task{Name: []registry.Name{"1", "2", "b1"}[draw.IntN(3)]}, Points: float64(draw.IntN(9)) / 2, Days: draw.IntN(6)})
			}
			for i := range candidates {
				candidates[i].Rubric = candidates[0].Rubric
			}
			all = append(all, candidates)
		}
		tasks, spent := c.spend(all)
		var got gain
		for _, one := range tasks {
			got = got.add(one.worth(one.Slip))
		}
		assert.Equal(t, spent, got.days)
		assert.LessOrEqual(t, spent, c.Course.Late.Slip)
		var try func(at int, left int, so gain)
		try = func(at, left int, so gain) {
			if at == len(all) {
				if slices.Compare(rank(so), rank(got)) > 0 {
					t.Fatalf("%+v is better than %+v", so, got)
				}
				return
			}
			for k := 0; k <= left; k++ {
				for _, one := range all[at] {
					one.Final = round(one.Points * c.left(one.Days-k))
					try(at+1, left-k, so.add(one.worth(k)))
				}
			}
		}
		try(0, c.Course.Late.Slip, gain{})
	}
}
