package folder

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/grader/class/batch"
	"flashlab/grader/class/course"
	"flashlab/grader/class/gradebook"
	"flashlab/grader/class/intake"
	"flashlab/grader/class/record"
	"flashlab/grader/grading/marks"
	"flashlab/grader/grading/report"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/score"
	"flashlab/grader/grading/verdict"
	"flashlab/grader/tasks/registry"
	"flashlab/internal/repo"
)

// scored is a task of which a share of everything but speed was reached; a negative share was refused.
func scored(t *rubric.Task, share float64) record.Task {
	v := verdict.Verdict{Task: t.Name, Dir: t.Dir, Title: t.Title, Device: "the simulator"}
	if share < 0 {
		return record.Task{Name: t.Name, Result: score.Refuse(v, t, "attention.go:1:1: no")}
	}
	for _, rc := range t.Checks {
		c := verdict.Check{ID: rc.ID, Title: rc.Title}
		for _, p := range marks.Parts(t, rc) {
			one := verdict.Part{Name: p.Name, Max: p.Most, Score: marks.Cents(share * p.Most)}
			if p.Name == "speed" {
				one.Score, one.NotMeasured, one.NeedsGPU = 0, "not measured: needs a GPU", true
			}
			c.Parts = append(c.Parts, one)
		}
		v.Checks = append(v.Checks, c)
	}
	return record.Task{Name: t.Name, Result: v}
}

// TestTotalsAgree: the console, the gradebook, results.json, feedback.md and feedback.html say the same of each student
// and of each task, whatever the course's points are, and whatever became of it.
func TestTotalsAgree(t *testing.T) {
	root, err := repo.Root()
	require.NoError(t, err)
	all, err := rubric.LoadAll(root)
	require.NoError(t, err)
	find := func(name string) *rubric.Task {
		one, err := rubric.Find(all, name)
		require.NoError(t, err)
		return one[0]
	}
	names := []registry.Name{"1", "2", "4", "b2"}
	compared := 0
	for _, points := range []string{"", "[task.4]\npoints = 8.0\n", "[task.2]\npoints = 7\n[task.4]\npoints = 0.7\n[task.b2]\npoints = 1.9\n"} {
		c, err := course.Parse("course.toml", "tasks = [1, 2, 4, \"b2\"]\n"+points, registry.All.Names())
		require.NoError(t, err)
		roster := &intake.Roster{}
		out := t.TempDir()
		shares := map[string][]float64{ // of the tasks; 2 is one that was not graded
			"all": {1, 1, 1, 1}, "scaled": {1, 0.37, 0.81, 0.53}, "refused": {1, 0.5, -1, 0.7}, "refusedall": {-1, -1, -1, -1}, "missing": {0.9, 2, 0.33, 2}, "nothing": {0, 0, 0, 0}, "absent": nil,
		}
		class := gradebook.Class{Course: c, Rubrics: all, Roster: roster}
		for _, id := range []string{"absent", "all", "missing", "nothing", "refused", "refusedall", "scaled"} {
			require.NoError(t, roster.Add(record.Student{ID: id}))
			if shares[id] == nil {
				continue
			}
			r := &record.Record{Student: record.Student{ID: id}, Attempt: 1, Submission: record.Submission{File: id, SHA256: strings.Repeat("ab", 32)}}
			for i, share := range shares[id] {
				if share <= 1 {
					r.Put(scored(find(string(names[i])), share))
				}
			}
			require.NoError(t, record.Write(out, r))
			class.Records = append(class.Records, r)
		}
		captured(t, func() { require.NoError(t, Folder{Out: out}.Write(class)) })
		book := gradebookOf(t, filepath.Join(out, "gradebook.csv"))
		for _, r := range class.Records {
			id := r.Student.ID
			console := captured(t, func() {
				p := batch.NewProgress(os.Stdout, false, class.Measured)
				p.Begin(1)
				p.Done(intake.Item{Student: r.Student, Attempt: 1}, r, 1, nil)
			})
			want := totals{book[id]["points"], book[id]["of"]}
			said := map[string]totals{"console": match(t, `: ([\d.]+) of ([\d.]+) points`, console)}
			dir := filepath.Join(out, "students", id)
			md, page := textOf(t, filepath.Join(dir, "feedback.md")), textOf(t, filepath.Join(dir, "feedback.html"))
			said["feedback.md"] = match(t, `\*\*([\d.]+) of ([\d.]+) points`, md)
			said["feedback.html"] = match(t, `<p><b>([\d.]+) of ([\d.]+) points`, page)
			var g report.Gradescope
			require.NoError(t, json.Unmarshal([]byte(textOf(t, filepath.Join(dir, "results.json"))), &g))
			said["results.json"] = totals{report.Points(g.Score), match(t, `([\d.]+) of ([\d.]+) points`, g.Output)[1]}
			said["its tests"] = sumOf(g, func(tag string) bool { return !strings.HasPrefix(tag, "task b") })
			for where, is := range said {
				assert.Equal(t, want, is, "%s of %s with %q", where, id, points)
				compared++
			}
			for i, name := range names {
				want := totals{book[id]["task "+string(name)], book[id]["task "+string(name)+" of"]}
				title := find(string(name)).Title
				row := match(t, fmt.Sprintf(`\| %s: %s \| (\S+) \| (\S+) \|`, name, regexp.QuoteMeta(title)), md)
				if shares[id][i] > 1 {
					assert.Equal(t, totals{"", ""}, want, "a task that was not graded has no zero")
					assert.Equal(t, totals{"–", "0"}, row)
					continue
				}
				for where, is := range map[string]totals{
					"feedback.md's table": row,
					"feedback.md's task":  match(t, fmt.Sprintf(`## Task %s: .*\n\n([\d.]+) of ([\d.]+) points`, name), md),
					"feedback.html":       match(t, fmt.Sprintf(`<h2>Task %s: .*</h2>\n<p><b>([\d.]+)</b> of ([\d.]+) points`, name), page),
					"results.json":        sumOf(g, func(tag string) bool { return tag == "task "+string(name) }),
				} {
					assert.Equal(t, want, is, "%s of %s, task %s with %q", where, id, name, points)
					compared++
				}
			}
		}
		assert.Empty(t, book["absent"]["points"], "who handed in nothing has no zero")
		assert.NoDirExists(t, filepath.Join(out, "students", "absent"))
	}
	assert.Equal(t, 3*(6*5+6*4*4-2*4), compared)
}

// totals are points, and of how many.
type totals [2]string

func match(t *testing.T, pattern, text string) totals {
	m := regexp.MustCompile(pattern).FindStringSubmatch(text)
	require.NotNil(t, m, "%s in\n%.2000s", pattern, text)
	return totals{m[1], m[2]}
}

func textOf(t *testing.T, name string) string {
	data, err := os.ReadFile(name)
	require.NoError(t, err)
	return string(data)
}

// sumOf adds up tests of a results.json by their tags.
func sumOf(g report.Gradescope, wanted func(tag string) bool) totals {
	var got, of float64
	for _, one := range g.Tests {
		if wanted(one.Tags[0]) {
			got, of = got+one.Score, of+one.MaxScore
		}
	}
	return totals{report.Points(got), report.Points(of)}
}

// gradebookOf are its cells by student and column.
func gradebookOf(t *testing.T, name string) map[string]map[string]string {
	rows, err := csv.NewReader(strings.NewReader(textOf(t, name))).ReadAll()
	require.NoError(t, err)
	all := map[string]map[string]string{}
	for _, row := range rows[1:] {
		cells := map[string]string{}
		for i, cell := range row {
			cells[rows[0][i]] = cell
		}
		all[row[slices.Index(rows[0], "id")]] = cells
	}
	return all
}
