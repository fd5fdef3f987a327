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
	for _, one := range c.Tables.Times {
		if _, ok := one.of(attempts[one.Student]); ok {
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
	}
	for _, o := range c.Tables.Overrides {
		nobody(o.place, o.Student)
	}
	for _, m := range c.Tables.Marks {
		nobody(m.place, m.Student)
	}
	notes = append(notes, c.overridden(c.bound(attempts), entries)...)
	return append(notes, untimed(entries)...)
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
	students := "1 student"
	if len(who) > 1 {
		students = fmt.Sprintf("%d students", len(who))
	}
	more := ""
	if n := len(who) - mostNamed; n > 0 {
		who, more = who[:mostNamed], fmt.Sprintf(" and %d more", n)
	}
	return []string{fmt.Sprintf("the hand-in time of %s is unknown, so nothing was deducted for lateness: %s%s. Add the times to times.csv, or give Moodle's grading worksheet, which has them",
		students, strings.Join(who, ", "), more)}
}
