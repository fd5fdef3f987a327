package gradebook

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"flashlab/grader/class/course"
	"flashlab/grader/class/intake"
	"flashlab/grader/class/record"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/verdict"
	"flashlab/internal/harmless"
)

// Class is what grades are made from.
type Class struct {
	Course  *course.Course
	Rubrics []*rubric.Task // all that the tree has
	Roster  *intake.Roster // nil without one
	Tables  Tables
	Records []*record.Record
	given   []given // the overrides, while entries are made
}

// Entries are the grades, sorted by student: of everybody who handed something in, and of
// everybody on the roster.
func (c Class) Entries() []Entry {
	students := map[string]record.Student{}
	if c.Roster != nil {
		for _, s := range c.Roster.Students {
			students[s.ID] = s
		}
	}
	attempts := c.attempts()
	c.apply(attempts)
	c.given = c.bound(attempts)
	for _, r := range c.Records {
		for _, s := range r.Members() {
			if s = c.known(s); students[s.ID].ID == "" {
				students[s.ID] = s
			}
		}
	}
	var entries []Entry
	for id, s := range students {
		entries = append(entries, c.entry(s, attempts[id]))
	}
	slices.SortFunc(entries, func(a, b Entry) int { return strings.Compare(a.Student.ID, b.Student.ID) })
	c.strangers(entries)
	c.named(entries, attempts)
	return entries
}

// attempts are each student's, in order.
func (c Class) attempts() map[string][]*record.Record {
	all := map[string][]*record.Record{}
	for _, r := range c.Records {
		for _, s := range r.Members() {
			id := c.known(s).ID
			all[id] = add(all[id], r, id)
		}
	}
	for _, one := range all {
		slices.SortStableFunc(one, func(a, b *record.Record) int { return a.Attempt - b.Attempt })
	}
	return all
}

// known is the roster's student, if it has the name by now under which work was graded.
func (c Class) known(s record.Student) record.Student {
	if known, ok := c.Roster.Find(s.ID, harmless.Line(s.ID)); ok { // as the report shows it, too
		return known
	}
	return s
}

// add adds an attempt, once: it may have been graded under another name, too, before the roster was mended.
func add(attempts []*record.Record, r *record.Record, student string) []*record.Record {
	for i, old := range attempts {
		if old.Submission.File != "" && old.Submission.File == r.Submission.File {
			if old.Student.ID != student {
				attempts[i] = r
			}
			return attempts
		}
	}
	return append(attempts, r)
}

func (c Class) entry(s record.Student, attempts []*record.Record) Entry {
	e := Entry{Student: s, Attempts: len(attempts), Unreadable: len(attempts)}
	for _, r := range attempts {
		if r.Trouble != "" {
			e.Notes = append(e.Notes, fmt.Sprintf("attempt %d: %s", r.Attempt, r.Trouble))
			continue
		}
		e.Unreadable--
	}
	if len(attempts) == 0 {
		e.Notes = append(e.Notes, "nothing was handed in")
	}
	e.Asked = c.asked(attempts)
	if n := OpenRequests([]Entry{e}); n > 0 {
		e.Notes = append(e.Notes, record.Plural(n, "regrade request")+" without an answer")
	}
	e.Tasks, e.Slip = c.counting(s, attempts)
	e.SlipOf = c.Course.Late.Slip
	for _, one := range e.Tasks {
		e.add(one)
		for _, n := range one.Notes {
			e.Notes = append(e.Notes, fmt.Sprintf("task %s: %s", one.Rubric.Name, n.Instructor))
		}
	}
	if slices.ContainsFunc(e.Tasks, func(t Task) bool { return t.Untimed }) {
		e.Notes = append(e.Notes, "hand-in time unknown, so nothing was deducted for lateness (times.csv)")
	}
	e.Points, e.Of, e.Bonus = round(e.Points), round(e.Of), Bonus{round(e.Bonus.Points), round(e.Bonus.Of)}
	e.GPU, e.Awaiting, e.NotGraded = round(e.GPU), round(e.Awaiting), round(e.NotGraded)
	return e
}

// add counts a task among the others of its kind.
func (e *Entry) add(one Task) {
	if one.Rubric.Name.Bonus() {
		e.Bonus.Points += one.Final
		e.Bonus.Of += one.Of
		return
	}
	e.Points += one.Final
	e.Of += one.Of
	e.GPU += one.GPU
	e.Awaiting += one.Awaiting
	e.NotGraded += one.NotGraded
}

// bonus tells whether a bonus task is on.
func (c Class) bonus() bool {
	return slices.ContainsFunc(c.Rubrics, func(t *rubric.Task) bool { return t.Name.Bonus() && c.Course.Graded(t.Name) })
}

// task makes the points of one task of one attempt, before lateness is taken. before are the attempts up to it.
func (c Class) task(s record.Student, t *rubric.Task, before []*record.Record, r *record.Record) Task {
	one := Task{Record: r, Factor: 1}
	one.Part, one.Stale = c.marked(t, r)
	t = c.scaled(t)
	one.Rubric = t
	whole := c.override(s, t.Name, "", r)
	one.Whole = whole
	for _, rc := range t.Checks {
		k := c.check(s, t, rc, one.Part, r)
		if r == nil {
			k = Check{ID: rc.ID, Title: rc.Title, Of: rc.Points}
		}
		if whole != nil { // the points stand for the task as a whole
			k.Points, k.Of, k.GPU, k.Awaiting, k.NotGraded, k.Held = 0, rc.Points, 0, 0, 0, nil
		}
		one.Checks = append(one.Checks, k)
		one.Points += k.Points
		one.Of += k.Of
		one.GPU += k.GPU
		one.Awaiting += k.Awaiting
		one.NotGraded += k.NotGraded
		if k.Override != nil && whole == nil {
			one.Notes = append(one.Notes, k.Override.note(rc.ID+" "))
		}
	}
	if whole != nil {
		one.Points = whole.Points
		one.Notes = append(one.Notes, whole.note(""))
	}
	if one.Part != nil && one.Part.Failed != "" && whole == nil {
		one.Notes = append(one.Notes, forAll("could not be graded, through no fault of the submission"))
	}
	if len(one.Stale) > 0 {
		one.Notes = append(one.Notes, Note{Instructor: staleNote(one.Stale)})
	}
	c.manual(s, &one)
	c.lateness(s, &one, before)
	return one
}

// worth is the most that a task can earn.
func (c Class) worth(t *rubric.Task) float64 {
	of := c.scaled(t).Points
	for _, m := range c.Course.Manual {
		if m.Task == t.Name {
			of += m.Points
		}
	}
	return of
}

// check adds up a check's parts; an override replaces them. Those of an attempt that could not be read
// await a person.
func (c Class) check(s record.Student, t *rubric.Task, rc rubric.Check, part *record.Task, r *record.Record) Check {
	k := Check{ID: rc.ID, Title: rc.Title}
	if o := c.override(s, t.Name, rc.ID, r); o != nil {
		k.Override, k.Points, k.Of = o, o.Points, rc.Points
		return k
	}
	var measured *verdict.Check
	if part != nil && part.Failed == "" {
		for i := range part.Result.Checks {
			if part.Result.Checks[i].ID == rc.ID {
				measured = &part.Result.Checks[i]
			}
		}
	}
	if measured == nil && r != nil && r.Trouble != "" {
		k.Awaiting = rc.Points // a person may ask for it once more, or decide
		return k
	}
	if measured == nil {
		k.NotGraded = rc.Points
		return k
	}
	if h := part.Held(rc.ID); h != nil {
		k.Held, k.Awaiting = h, rc.Points
		return k
	}
	for _, p := range measured.Parts {
		switch {
		case p.NotMeasured == "":
			k.Points += p.Score
			k.Of += p.Max
		case p.NeedsGPU:
			k.GPU += p.Max
		default:
			k.NotGraded += p.Max
		}
	}
	return k
}

// manual adds what a person gives for the task.
func (c Class) manual(s record.Student, t *Task) {
	for _, item := range c.Course.Items() {
		if item.Task != t.Rubric.Name {
			continue
		}
		m := Manual{ID: item.ID, Title: item.Title, Of: item.Points}
		for i, mark := range c.Tables.Marks {
			if mark.Student == s.ID && mark.Item == item.ID {
				m.Mark = &c.Tables.Marks[i]
			}
		}
		if m.Mark == nil {
			t.Awaiting += item.Points
		} else {
			t.Points += m.Mark.Points
			t.Of += item.Points
		}
		t.Manual = append(t.Manual, m)
	}
}

// round leaves what Number shows of it.
func round(x float64) float64 {
	x, _ = strconv.ParseFloat(Number(x), 64) // it has just been written
	return x
}
