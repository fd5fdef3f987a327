package gradebook

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/class/course"
	"flashlab/grader/class/intake"
	"flashlab/grader/class/record"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/verdict"
	"flashlab/grader/tasks/registry"
)

var rubrics = []*rubric.Task{
	{Name: "1", Dir: "task1_reference", Title: "Reference", Points: 2, Shares: rubric.Shares{Correctness: 1}, Checks: []rubric.Check{{ID: "split", Title: "Split", Points: 1}, {ID: "merge", Title: "Merge", Points: 1}}},
	{Name: "2", Dir: "task2_unfused", Title: "Unfused", Points: 4, Shares: rubric.Shares{Correctness: 0.75, Speed: 0.25}, Checks: []rubric.Check{{ID: "softmax", Title: "Softmax", Points: 4}}},
}

const text0 = `
title = "Class"
timezone = "UTC"
deadline = "2026-11-10 12:00"
[late]
days = 2
percent = 10.0
grace = "15m"
`

func parsed(t *testing.T, text string) *course.Course {
	c, err := course.Parse("course.toml", text, []registry.Name{"1", "2"})
	require.NoError(t, err)
	return c
}

func at(s string) *time.Time {
	t, err := time.Parse(course.Form, s)
	if err != nil {
		panic(err)
	}
	return &t
}

func byName(n registry.Name) *rubric.Task {
	return rubrics[slices.IndexFunc(rubrics, func(t *rubric.Task) bool { return t.Name == n })]
}

// part is what was measured of a task: split and merge right to a share, softmax too, with a quarter of
// it for a GPU.
func part(n registry.Name, files string, share float64) record.Task {
	t := record.Task{Name: n, Key: "k", Files: files}
	t.Result.Task = n
	for _, c := range byName(n).Checks {
		k := verdict.Check{ID: c.ID, Title: c.Title, Parts: []verdict.Part{{Name: "correctness", Score: share * c.Points, Max: c.Points}}}
		if n == "2" {
			k.Parts = []verdict.Part{{Name: "correctness", Score: share * 3, Max: 3}, {Name: "speed", Max: 1, NotMeasured: "needs a GPU", NeedsGPU: true}}
		}
		t.Result.Checks = append(t.Result.Checks, k)
	}
	return t
}

func attempt(student string, n int, when string, tasks ...record.Task) *record.Record {
	r := &record.Record{Student: record.Student{ID: student}, Attempt: n, Tasks: tasks, Submission: record.Submission{SHA256: strings.Repeat("ab", 32)}}
	if when != "" {
		r.Submitted = at(when)
	}
	return r
}

// grades are the entries by student.
func grades(c Class) map[string]Entry {
	all := map[string]Entry{}
	for _, e := range c.Entries() {
		all[e.Student.ID] = e
	}
	return all
}

func TestPointsAndWhatIsMissing(t *testing.T) {
	e := grades(Class{Course: parsed(t, text0), Rubrics: rubrics, Records: []*record.Record{attempt("a", 1, "2026-11-10 12:14", part("1", "x", 1), part("2", "x", 0.5))}})["a"]
	assert.InDelta(t, 3.5, e.Points, 1e-9, "in the grace time")
	assert.InDelta(t, 5.0, e.Of, 1e-9)
	assert.InDelta(t, 1.0, e.GPU, 1e-9)
	assert.False(t, e.Complete())
	assert.Equal(t, "3.5 of 5 points; 1 need a GPU", e.Sentence())
}

func TestLatenessIsTakenOnce(t *testing.T) {
	c := Class{Course: parsed(t, text0), Rubrics: rubrics}
	for when, want := range map[string]float64{
		"2026-11-10 12:16": 0.9, "2026-11-11 12:00": 0.9, "2026-11-11 12:15": 0.9, "2026-11-11 12:16": 0.8, "2026-11-12 12:15": 0.8, "2026-11-12 12:16": 0, // the grace covers each
	} {
		c.Records = []*record.Record{attempt("a", 1, when, part("1", "x", 1), part("2", "x", 1))}
		assert.InDelta(t, 5*want, grades(c)["a"].Points, 1e-9, when)
	}
	c.Records[0].Submitted = at("2026-11-13 12:01")
	c.Tables.Extensions = []Extension{{Student: "a", Task: "2", Until: *at("2026-11-20 12:00")}}
	assert.InDelta(t, 3, grades(c)["a"].Points, 1e-9, "the extension is of task 2")
	c.Tables.Extensions[0].Task = ""
	assert.InDelta(t, 5, grades(c)["a"].Points, 1e-9)
	c.Tables.Extensions[0].Until = *at("2026-11-01 12:00")
	c.Records[0].Submitted = at("2026-11-09 12:00")
	assert.InDelta(t, 5, grades(c)["a"].Points, 1e-9, "an extension takes nothing away")
}

func TestUnchangedFilesAreNotLate(t *testing.T) {
	c := Class{Course: parsed(t, text0), Rubrics: rubrics, Records: []*record.Record{
		attempt("a", 1, "2026-11-09 12:00", part("1", "x", 1), part("2", "x", 0)),
		attempt("a", 2, "2026-11-11 11:00", part("1", "x", 1), part("2", "y", 1)),
	}}
	e := grades(c)["a"]
	assert.InDelta(t, 2, e.Tasks[0].Final, 1e-9)
	assert.InDelta(t, 2.7, e.Tasks[1].Final, 1e-9)
}

func TestWhichAttemptCounts(t *testing.T) {
	records := []*record.Record{
		attempt("a", 1, "2026-11-09 12:00", part("1", "x", 0.5)),
		attempt("a", 2, "2026-11-10 11:00", part("1", "y", 0.9)),
		attempt("a", 3, "2026-11-11 11:00", part("1", "z", 0.95)),
		{Student: record.Student{ID: "a"}, Attempt: 4, Trouble: "it is empty"},
	}
	for rule, want := range map[string]float64{"last": 2 * 0.95 * 0.9, "best": 1.8, "first": 1} {
		c := Class{Course: parsed(t, "attempt = \""+rule+"\"\ntasks = [1]\n"+text0), Rubrics: rubrics, Records: records}
		e := grades(c)["a"]
		assert.InDelta(t, want, e.Points, 1e-9, rule)
		assert.Contains(t, e.Notes, "attempt 4: it is empty")
	}
	broken := grades(Class{Course: parsed(t, text0), Rubrics: rubrics, Records: records[3:]})["a"]
	assert.True(t, broken.Blank(), "nobody knows what it is worth")
	assert.Zero(t, broken.Of)
	assert.InDelta(t, 6, broken.Awaiting, 1e-9)
	c := Class{Course: parsed(t, text0), Rubrics: rubrics, Records: records[3:], Tables: Tables{Overrides: []Override{{Student: "a", Task: "1", Reason: "nothing came", By: "kt"}, {Student: "a", Task: "2", Check: "softmax", Points: 1, Reason: "shown", By: "kt"}}}}
	assert.Contains(t, c.Feedback(broken), "could not be read, so there are no points yet; 6 await a person")
	decided := grades(c)["a"]
	assert.Equal(t, []float64{1, 6, 0}, []float64{decided.Points, decided.Of, decided.Awaiting}, "until someone decides")
	row := rows(t, c.CSV([]Entry{broken}))[1]
	assert.Equal(t, []string{"", "", "", "", "", "", "", "6"}, row[6:14])
}

func TestAPersonDecides(t *testing.T) {
	p := part("1", "x", 1)
	p.Result.Held = []verdict.Held{{Check: "split", Reason: "impossible", Evidence: "secret evidence"}}
	c := Class{Course: parsed(t, "[[manual]]\nid = \"q\"\ntask = 1\npoints = 0.5\n"), Rubrics: rubrics, Records: []*record.Record{attempt("a", 1, "", p, part("2", "x", 1))}}
	e := grades(c)["a"]
	assert.InDelta(t, 4, e.Points, 1e-9)
	assert.InDelta(t, 1.5, e.Awaiting, 1e-9)
	feedback := c.Feedback(e)
	assert.Contains(t, feedback, verdict.Awaiting)
	assert.NotContains(t, feedback, "secret")
	assert.NotContains(t, feedback, "impossible")

	c.Tables.Overrides = []Override{{Student: "a", Task: "1", Check: "split", Points: 0.25, Reason: "talked about it", By: "kt"}}
	c.Tables.Marks = []Mark{{Student: "a", Item: "q", Points: 0.4, Comment: "*nice*"}}
	e = grades(c)["a"]
	assert.InDelta(t, 4.65, e.Points, 1e-9)
	assert.Zero(t, e.Awaiting)
	assert.Contains(t, c.Feedback(e), `\*nice\*`)
	assert.Contains(t, strings.Join(e.Notes, "; "), "split set to 0.25 by kt: talked about it")
	assert.Contains(t, c.Feedback(e), "split set to 0.25 by a person")
	assert.NotContains(t, c.Feedback(e), "talked about it", "the reason is private")
	c.Tables.Overrides[0].Public = "as we *agreed*"
	assert.Contains(t, c.Feedback(grades(c)["a"]), `split set to 0.25 by a person: as we \*agreed\*`)
	assert.Contains(t, strings.Join(grades(c)["a"].Notes, "; "), "split set to 0.25 by kt: talked about it")

	c.Tables.Overrides = append(c.Tables.Overrides, Override{Student: "a", Task: "2", Points: 3.5, Reason: "r", By: "b"})
	e = grades(c)["a"]
	assert.InDelta(t, 1.65+3.5, e.Points, 1e-9)
	assert.Zero(t, e.GPU, "the whole task is decided")
	assert.Equal(t, []bool{false, true}, []bool{e.Tasks[0].Whole != nil, e.Tasks[1].Whole != nil})
}

func TestHiddenCasesAreSeenWhenTheCourseSaysSo(t *testing.T) {
	graded := part("1", "f", 1)
	graded.Result.Checks[0].Parts = []verdict.Part{{Name: "correctness", Score: 0.75, Max: 0.75}, {Name: verdict.Hidden, Max: 0.25, Note: "0 of 1 hidden case right"}}
	of := func(toml string) (tests map[string]string, output string, total float64) {
		withHidden := *rubrics[0]
		withHidden.Checks = slices.Clone(withHidden.Checks)
		withHidden.Checks[0].Cases = []rubric.Case{{Name: "a", Weight: 3}, {Name: "h", Weight: 1, Hidden: true}}
		c := Class{Course: parsed(t, toml), Rubrics: []*rubric.Task{&withHidden}, Records: []*record.Record{attempt("ada", 1, "", graded)}}
		g := c.Gradescope(c.Entries()[0])
		tests = map[string]string{}
		for _, one := range g.Tests {
			tests[one.Name] = one.Visibility
		}
		return tests, g.Output, g.Score
	}
	tests, output, total := of("[visibility]\nhidden = \"after_published\"\n")
	assert.Equal(t, map[string]string{"Task 1, Split: correctness": "visible", "Task 1, Split: hidden": "after_published", "Task 1, Merge: correctness": "visible"}, tests)
	assert.NotContains(t, output, "1.75", "the points of all but the hidden ones would tell")
	assert.InDelta(t, 1.75, total, 1e-9, "Gradescope's own total has them")
	tests, output, _ = of("[visibility]\nresults = \"after_due_date\"\n")
	assert.Equal(t, "after_due_date", tests["Task 1, Split: hidden"])
	assert.Contains(t, output, "1.75 of 2 points")
}

func TestWhatDoesNotRunHasNoSpeed(t *testing.T) {
	p := part("2", "x", 0)
	p.Result.Refused = "it does not compile"
	e := grades(Class{Course: parsed(t, text0), Rubrics: rubrics, Records: []*record.Record{attempt("a", 1, "", part("1", "x", 1), p)}})["a"]
	assert.InDelta(t, 2, e.Points, 1e-9)
	assert.InDelta(t, 6, e.Of, 1e-9)
	assert.True(t, e.Complete())
}

func TestAFailureOfTheGraderCostsNothing(t *testing.T) {
	p := part("1", "x", 0)
	p.Failed = "disk full"
	e := grades(Class{Course: parsed(t, text0), Rubrics: rubrics, Records: []*record.Record{attempt("a", 1, "", p)}})["a"]
	assert.True(t, e.Tasks[0].Blank())
	assert.InDelta(t, 6, e.NotGraded, 1e-9)
}

func rows(t *testing.T, data []byte) [][]string {
	all, err := csv.NewReader(strings.NewReader(string(data))).ReadAll()
	require.NoError(t, err)
	return all
}

func TestTheGradebook(t *testing.T) {
	roster := &intake.Roster{}
	require.NoError(t, roster.Add(record.Student{ID: "a", Name: "=HYPERLINK(\"x\")", Email: "a@x"}))
	require.NoError(t, roster.Add(record.Student{ID: "z", Name: "Zoe"}))
	c := Class{Course: parsed(t, text0), Rubrics: rubrics, Roster: roster, Records: []*record.Record{attempt("a", 1, "2026-11-09 12:00", part("2", "x", 0.5))}}
	c.Records[0].Group = []record.Student{{ID: "b", Name: "-1+2"}}
	all := rows(t, c.CSV(c.Entries()))
	assert.Equal(t, []string{"a", "'=HYPERLINK(\"x\")", "a@x", "1", "2026-11-09 12:00 UTC", "abab abab abab", "", "", "1.5", "3", "1.5", "3", "1", "", "2", ""}, all[1])
	assert.Equal(t, "'-1+2", all[2][1])
	assert.Equal(t, "1.5", all[2][10], "a group shares its points")
	assert.Equal(t, []string{"z", "Zoe", "", "", "", "", "", "2", "", "4", "", "6", "", "", "", "nothing was handed in"}, all[3])
	assert.Equal(t, c.CSV(c.Entries()), c.CSV(c.Entries()))
}

const canvasExport = "\ufeffStudent,ID,SIS User ID,SIS Login ID,Section,Attention (4711),Other (1)\n" +
	"    Points Possible,,,,,5,10\n\"Lovelace, Ada\",101,s1,ada,A,,7\n\"@Cyd\",102,s2,cyd,A,,\n"

func TestCanvasGetsItsOwnTableBack(t *testing.T) {
	name := filepath.Join(t.TempDir(), "export.csv")
	require.NoError(t, os.WriteFile(name, []byte(canvasExport), 0o644))
	c := Class{Course: parsed(t, "[canvas]\ntotal = \"Attention\"\ntasks = { 2 = \"Task 2\" }\n"), Rubrics: rubrics,
		Records: []*record.Record{attempt("101", 1, "", part("2", "x", 1)), attempt("who", 1, "", part("2", "x", 1))}}
	table, open, notes, err := c.Canvas(name, c.Entries())
	require.NoError(t, err)
	assert.Equal(t, []string{"who is not in export.csv", "2 marks of gradebook-canvas.csv not final: gradebook-canvas-open.csv lists what is outstanding"}, notes)
	assert.Equal(t, [][]string{{"Student", "ID", "column", "mark", "outstanding"},
		{"Lovelace, Ada", "101", "Attention (4711)", "3", "1 of the points await a GPU; 2 of the points await grading"}, {"Lovelace, Ada", "101", "Task 2", "3", "1 of the points await a GPU"}}, rows(t, open))
	all := rows(t, table)
	assert.Equal(t, []string{"Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Attention (4711)", "Other (1)", "Task 2"}, all[0])
	assert.Equal(t, []string{"    Points Possible", "", "", "", "", "6", "10", "4"}, all[1])
	assert.Equal(t, []string{"Lovelace, Ada", "101", "s1", "ada", "A", "3", "7", "3"}, all[2])
	assert.Equal(t, []string{"'@Cyd", "102", "s2", "cyd", "A", "", "", ""}, all[3])

	r, err := CanvasRoster(name)
	require.NoError(t, err)
	s, ok := r.Find("101")
	assert.True(t, ok)
	assert.Equal(t, "ada", s.ID)
}
