package gradebook

import (
	"fmt"
	"slices"
	"strings"

	"flashlab/grader/class/record"
)

// Notices are what the instructor has to know about the tables and the hand-in times: no row is dropped silently.
func (c Class) Notices(entries []Entry) (notes []string) {
	notes = append(notes, c.Tables.Unread...)
	attempts := c.attempts()
	has := func(student string) bool {
		return slices.ContainsFunc(entries, func(e Entry) bool { return e.Student.ID == student })
	}
	for i, one := range c.Tables.Times {
		if _, ok := one.of(attempts[one.Student]); ok {
			again := slices.IndexFunc(c.Tables.Times[i+1:], func(t Time) bool { return t.Student == one.Student && t.Attempt == one.Attempt })
			if again >= 0 {
				notes = append(notes, replaced(one.place, c.Tables.Times[i+1+again].place))
			}
			continue
		}
		notes = append(notes, fmt.Sprintf("%s: ignored: %s has %s", one.Where(), one.Student, numbers(attempts[one.Student])))
	}
	nobody := func(r place, student string) {
		if !has(student) {
			notes = append(notes, fmt.Sprintf("%s: ignored: no student has the id %s", r.Where(), student))
		}
	}
	for _, e := range c.Tables.Extensions {
		nobody(e.place, e.Student)
		if why := c.idle(e); why != "" && has(e.Student) {
			notes = append(notes, fmt.Sprintf("%s: ignored: %s", e.Where(), why))
		}
	}
	for i, o := range c.Tables.Overrides {
		nobody(o.place, o.Student)
		again := slices.IndexFunc(c.Tables.Overrides[i+1:], func(other Override) bool {
			return other.Student == o.Student && other.what() == o.what() && other.Receipt == o.Receipt
		})
		if again >= 0 {
			notes = append(notes, replaced(o.place, c.Tables.Overrides[i+1+again].place))
		}
	}
	for _, m := range c.Tables.Marks {
		nobody(m.place, m.Student)
	}
	notes = append(notes, c.unasked(entries)...)
	notes = append(notes, c.overridden(c.bound(attempts), entries)...)
	return append(notes, untimed(entries)...)
}

// replaced says that a later row is about the same.
func replaced(row, by place) string {
	return fmt.Sprintf("%s: ignored: %s is about the same, and the last one counts", row.Where(), by.Where())
}

// idle says why an extension changes nothing, if it changes nothing.
func (c Class) idle(e Extension) string {
	if e.Task != "" && !c.Course.Graded(e.Task) {
		return fmt.Sprintf("task %s is not graded in this course", e.Task)
	}
	why := "no task that it names has a deadline"
	for _, t := range c.Rubrics {
		due := c.Course.Due(t.Name)
		switch {
		case e.Task != "" && e.Task != t.Name || due.IsZero():
		case e.Until.After(due):
			return ""
		default:
			why = "it ends no later than the deadline"
		}
	}
	return why
}

// numbers says which attempts there are.
func numbers(attempts []*record.Record) string {
	if len(attempts) == 0 {
		return "no attempt"
	}
	var all []string
	for _, r := range attempts {
		all = append(all, fmt.Sprint(r.Attempt))
	}
	slices.Sort(all)
	if len(all) == 1 {
		return "only attempt " + all[0]
	}
	return "attempts " + strings.Join(all, ", ")
}

// mostNamed students are named in a note.
const mostNamed = 8

// untimed names the students whose hand-in time is unknown, though there is a deadline.
func untimed(entries []Entry) []string {
	var who []string
	for _, e := range entries {
		if slices.ContainsFunc(e.Tasks, func(t Task) bool { return t.Untimed }) {
			who = append(who, e.Student.ID)
		}
	}
	if len(who) == 0 {
		return nil
	}
	students := record.Plural(len(who), "student")
	more := ""
	if n := len(who) - mostNamed; n > 0 {
		who, more = who[:mostNamed], fmt.Sprintf(" and %d more", n)
	}
	return []string{fmt.Sprintf("the hand-in time of %s is unknown, so nothing was deducted for lateness: %s%s. Add the times to times.csv, or give Moodle's grading worksheet, which has them",
		students, strings.Join(who, ", "), more)}
}
