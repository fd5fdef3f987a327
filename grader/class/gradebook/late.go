package gradebook

import (
	"fmt"
	"math"
	"slices"
	"time"

	"flashlab/grader/class/course"
	"flashlab/grader/class/record"
)

// lateness counts the days; what they cost is taken once, from all points of the task (spend). A task counts as handed
// in when its files last changed: handing in another task again does not make this one late.
func (c Class) lateness(s record.Student, t *Task, before []*record.Record) {
	t.Due = c.Course.Due(t.Rubric.Name)
	for _, e := range c.Tables.Extensions {
		if e.Student == s.ID && (e.Task == "" || e.Task == t.Rubric.Name) && !t.Due.IsZero() && e.Until.After(t.Due) {
			t.Due = e.Until
		}
	}
	if t.Record == nil {
		return
	}
	at := t.Record.Submitted
	for _, r := range slices.Backward(before) {
		p := r.Task(t.Rubric.Name)
		if t.Part == nil || p == nil || p.Files != t.Part.Files {
			break
		}
		if at = r.Submitted; at == nil {
			break
		}
	}
	if t.Due.IsZero() {
		return
	}
	if at == nil {
		t.Untimed = t.Record.Trouble == "" // else nobody knows yet what it is worth
		if t.Record.MarkedLate {
			t.Notes = append(t.Notes, forAll("handed in late; how late is not known, so nothing was taken (times.csv)"))
		}
		return
	}
	t.Submitted = *at
	begins := t.Due.Add(c.Course.Grace()) // the grace covers each day's end, as it does the deadline
	if !at.After(begins) {
		return
	}
	t.Days = int(math.Ceil(at.Sub(begins).Hours() / 24))
}

// left is the share of a task's points that so many days late leave.
func (c Class) left(days int) float64 {
	late := c.Course.Late
	switch {
	case days <= 0:
		return 1
	case days > late.Days:
		return 0
	}
	return max(0, 1-float64(days)*late.Percent/100)
}

func days(n int) string { return record.Plural(n, "day") }

func taken(factor float64) string {
	switch factor {
	case 0:
		return "so it has no points any more"
	case 1:
		return "nothing taken"
	}
	return fmt.Sprintf("%s %% taken", Number(100*(1-factor)))
}

// When writes a time in the course's zone.
func (c Class) When(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.In(c.Course.Location()).Format(course.Form + " MST")
}
