package gradebook

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/class/course"
	"flashlab/grader/class/record"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/verdict"
	"flashlab/grader/tasks/registry"
)

// withBonus is a class whose only student has 1.5 points of a bonus task, and all of task 1.
func withBonus(t *testing.T, text string) Class {
	c, err := course.Parse("course.toml", text, []registry.Name{"1", "2", "b1"})
	require.NoError(t, err)
	extra := record.Task{Name: "b1", Key: "k", Files: "f"}
	extra.Result.Task = "b1"
	extra.Result.Checks = []verdict.Check{{ID: "one", Title: "One", Parts: []verdict.Part{{Name: "correctness", Score: 1.5, Max: 2}}}}
	return Class{Course: c, Rubrics: append(slices.Clone(rubrics), &rubric.Task{Name: "b1", Dir: "bonus/b1_x", Title: "Extra", Points: 2, Shares: rubric.Shares{Correctness: 1},
		Checks: []rubric.Check{{ID: "one", Title: "One", Points: 2}}}), Records: []*record.Record{attempt("101", 1, "", part("1", "x", 1), extra)}}
}

func TestBonusPointsHaveTheirOwnTotal(t *testing.T) {
	c := withBonus(t, "tasks = [1, \"b1\"]\n")
	e := grades(c)["101"]
	assert.InDelta(t, 2, e.Points, 1e-9)
	assert.InDelta(t, 2, e.Of, 1e-9)
	assert.Equal(t, Bonus{1.5, 2}, e.Bonus)
	assert.Equal(t, "2 of 2 points; bonus: 1.5 of 2", e.Sentence())
	all := rows(t, c.CSV(c.Entries()))
	assert.Equal(t, []string{"task b1", "task b1 of", "points", "of", "need a GPU", "await a person", "not graded", "bonus", "bonus of", "notes"}, all[0][8:])
	assert.Equal(t, []string{"1.5", "2", "2", "2", "", "", "", "1.5", "2", ""}, all[1][8:])
	g := c.Gradescope(c.Entries()[0])
	assert.InDelta(t, 2, g.Score, 1e-9)
	assert.InDelta(t, 1.5, g.ExtraData.Bonus.Score, 1e-9)

	name := filepath.Join(t.TempDir(), "export.csv")
	require.NoError(t, os.WriteFile(name, []byte(canvasExport), 0o644))
	table, _, _, err := c.Canvas(name, c.Entries())
	require.NoError(t, err)
	all = rows(t, table)
	assert.Equal(t, []string{"flashlab", "flashlab bonus"}, all[0][7:])
	assert.Equal(t, []string{"2", "2"}, all[1][7:], "of how many points")
	assert.Equal(t, []string{"2", "1.5"}, all[2][7:])
}

func TestBonusTasksAreGradedWhereTheCourseNamesThem(t *testing.T) {
	c := withBonus(t, "")
	e := grades(c)["101"]
	assert.Zero(t, e.Bonus)
	assert.Len(t, e.Tasks, 2)
	assert.NotContains(t, string(c.CSV(c.Entries())), "bonus")
}
