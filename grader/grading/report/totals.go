package report

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/verdict"
	"flashlab/grader/tasks/registry"
)

// Total is a task's row in the table on top of Results.md.
type Total struct {
	Task   registry.Name `json:"task"`
	Points *float64      `json:"points"` // null: not graded yet
	Of     float64       `json:"of"`
	Left   string        `json:"left,omitempty"` // "0.8 needs a GPU, 0.1 hidden"

	title, dir string
}

// group is the folder that a task's is in: those of one group have one total. The main route's are at
// the top of the tree.
func (t Total) group() string { return path.Dir(t.dir) }

// totals are the rows, in the order of the route.
type totals []Total

func totalsOf(tasks []*rubric.Task) (all totals) {
	for _, t := range tasks {
		all = append(all, Total{Task: t.Name, Of: t.Points, title: t.Title, dir: t.Dir})
	}
	return all
}

// fill takes the verdicts' points, and of the other tasks those of the table that was there.
func (all totals) fill(before string, verdicts []verdict.Verdict) {
	for i := range all {
		all[i].read(before)
	}
	for _, v := range verdicts {
		for i := range all {
			if all[i].Task == v.Task {
				got, _ := v.Points()
				got = round(got)
				all[i].Points, all[i].Left = &got, strings.TrimPrefix(measuredHere(v.Checks), " measured here; ")
			}
		}
	}
}

// link begins a task's row.
func (t Total) link() string { return fmt.Sprintf("| [%s %s](%s/README.md) |", t.Task, t.title, t.dir) }

// read finds the task's row in a table. What is not a row of ours counts as not graded.
func (t *Total) read(table string) {
	for _, line := range strings.Split(table, "\n") {
		rest, ok := strings.CutPrefix(line, t.link())
		if !ok {
			continue
		}
		cells := strings.Split(rest, "|")
		if x, err := strconv.ParseFloat(strings.TrimSpace(cells[0]), 64); err == nil && x >= 0 && x <= t.Of && len(cells) > 2 {
			t.Points, t.Left = &x, strings.TrimSpace(cells[2])
		}
	}
}

// table is a sentence and the rows, with a sum for each group.
func (all totals) table() string {
	var b strings.Builder
	for i, t := range all {
		switch {
		case i == 0:
			fmt.Fprintf(&b, "**%s**\n\n| task | points | of | not measured |\n| --- | --- | --- | --- |\n", all.sentence(t.group()))
		case t.group() != all[i-1].group():
			b.WriteString(all.sum(all[i-1].group()))
		}
		points := "–"
		if t.Points != nil {
			points = Points(*t.Points)
		}
		fmt.Fprintf(&b, "%s %s | %s | %s |\n", t.link(), points, Points(t.Of), t.Left)
	}
	if len(all) > 0 {
		b.WriteString(all.sum(all[len(all)-1].group()))
	}
	return b.String()
}

// add sums a group up, and counts its tasks that are not graded yet.
func (all totals) add(group string) (got, of float64, waiting int) {
	for _, t := range all {
		if t.group() != group {
			continue
		}
		of += t.Of
		if t.Points == nil {
			waiting++
			continue
		}
		got += *t.Points
	}
	return got, of, waiting
}

func (all totals) sentence(group string) string {
	got, of, waiting := all.add(group)
	s := fmt.Sprintf("%s of %s points", Points(got), Points(of))
	switch waiting {
	case 0:
	case 1:
		s += "; 1 task is not graded yet"
	default:
		s += fmt.Sprintf("; %d tasks are not graded yet", waiting)
	}
	return s
}

func (all totals) sum(group string) string {
	got, of, _ := all.add(group)
	name := "all"
	if group != "." {
		name = group
	}
	return fmt.Sprintf("| **%s** | **%s** | **%s** | |\n", name, Points(got), Points(of))
}
