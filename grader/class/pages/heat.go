package pages

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"flashlab/grader/class/gradebook"
	"flashlab/grader/class/record"
	"flashlab/grader/tasks/registry"
)

// heatMap shows every student's share of every check's points: students from the best to the one with
// least, checks of a task from the easiest to the hardest. So what most lack stands at the right of its
// task, and who lacks what others have is a faint spot among strong ones.
type heatMap struct {
	Tasks  []heatTask
	Checks []heatCheck
	Rows   []heatRow
	Mean   heatCell // of the students' shares of all points
	Dense  bool     // so many students that the numbers are not drawn, only said
}

type heatTask struct {
	Number registry.Name
	Title  string
	Checks int
}

type heatCheck struct {
	ID, Title string
	First     bool // of its task
	Mean      heatCell
	task, at  int     // its place in entries
	mean      float64 // as Mean
}

type heatRow struct {
	Who, Link string
	Whole     heatCell
	Cells     []heatCell
	share     float64
}

// heatCell is a colour, and what it stands for in words.
type heatCell struct {
	Step  string // "h0" to "h5", or "not" and "open", which are no shares
	Text  string // per cent
	Says  string // for those that are no shares
	First bool   // of its task
}

// dense is how many students fit with numbers one can read.
const dense = 60

// heatOf makes the map; nil where nobody has handed in anything.
func heatOf(entries []gradebook.Entry) *heatMap {
	entries = slices.DeleteFunc(slices.Clone(entries), func(e gradebook.Entry) bool { return e.Attempts == 0 })
	if len(entries) == 0 {
		return nil
	}
	h := &heatMap{Dense: len(entries) > dense}
	for at, t := range entries[0].Tasks {
		h.Tasks = append(h.Tasks, heatTask{t.Rubric.Name, t.Rubric.Title, len(t.Checks)})
		h.Checks = append(h.Checks, checksOf(entries, at)...)
	}
	var all mean
	for _, e := range entries {
		h.Rows = append(h.Rows, h.row(e))
		all.add(h.Rows[len(h.Rows)-1].share)
	}
	h.Mean = cellFor(all.value())
	slices.SortStableFunc(h.Rows, func(a, b heatRow) int { return cmp.Compare(b.share, a.share) })
	return h
}

// checksOf are a task's columns, the one with the highest mean first.
func checksOf(entries []gradebook.Entry, task int) (all []heatCheck) {
	for at, k := range entries[0].Tasks[task].Checks {
		var m mean
		for _, e := range entries {
			m.add(shareOf(e.Tasks[task], at))
		}
		one := heatCheck{ID: k.ID, Title: first(k.Title, k.ID), task: task, at: at, mean: m.value()}
		one.Mean = cellFor(one.mean)
		all = append(all, one)
	}
	slices.SortStableFunc(all, func(a, b heatCheck) int { return cmp.Compare(b.mean, a.mean) })
	if len(all) > 0 {
		all[0].First, all[0].Mean.First = true, true
	}
	return all
}

func (h *heatMap) row(e gradebook.Entry) heatRow {
	r := heatRow{Who: who(e), Link: "students/" + record.Safe(e.Student.ID) + "/" + Feedback, share: -1}
	if !e.Blank() {
		r.share = share(e.Points, e.Of)
	}
	r.Whole = cellFor(r.share)
	for _, c := range h.Checks {
		t := e.Tasks[c.task]
		one := cellFor(shareOf(t, c.at))
		switch k := t.Checks[c.at]; {
		case t.Whole != nil:
			one = heatCell{Step: "not", Text: "–", Says: "a person decided on the task as a whole"}
		case k.Held != nil || one.Step == "not" && k.Awaiting > 0:
			one = heatCell{Step: "open", Text: "?", Says: "awaits a person"}
		case one.Step == "not" && k.GPU > 0:
			one.Says = "needs a GPU"
		}
		one.First = c.First
		r.Cells = append(r.Cells, one)
	}
	return r
}

// shareOf is what a student has of a check's points that were measured or given; -1 where none were.
func shareOf(t gradebook.Task, at int) float64 {
	if k := t.Checks[at]; t.Whole == nil && k.Held == nil {
		return share(k.Points, k.Of)
	}
	return -1
}

// mean is one of shares, without those that are not measured.
type mean struct {
	sum float64
	n   int
}

func (m *mean) add(share float64) {
	if share >= 0 {
		m.sum, m.n = m.sum+share, m.n+1
	}
}

// value is -1 for a mean of nothing.
func (m mean) value() float64 {
	if m.n == 0 {
		return -1
	}
	return m.sum / float64(m.n)
}

// cellFor is a share's. Only nothing is 0, and only all of it 100.
func cellFor(share float64) heatCell {
	switch {
	case share < 0:
		return heatCell{Step: "not", Text: "–", Says: "not measured"}
	case share < 1e-9:
		return heatCell{Step: "h0", Text: "0"}
	case share > 1-1e-9:
		return heatCell{Step: "h5", Text: strconv.Itoa(int(math.Round(100 * share)))}
	}
	percent := min(max(int(math.Round(100*share)), 1), 99)
	return heatCell{Step: "h" + strconv.Itoa(1+min(int(4*share), 3)), Text: strconv.Itoa(percent)}
}
