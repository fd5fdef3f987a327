package gradebook

import (
	"fmt"
	"slices"
	"strings"

	"flashlab/grader/class/record"
	"flashlab/grader/grading/handin"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/tasks/registry"
)

// An override counts for the attempt that it was given for, and for others only where the task's files are the same.
// The column receipt says which attempt that is. A row without one counts for the attempt that counted when the row
// was first read, and Accepted remembers it.

// unread, in the receipt column, marks a student none of whose attempts could be read.
const unread = "none"

// given is an override with the attempt that it was given for.
type given struct {
	Override
	receipt string // digits of the attempt's hash, or unread
	files   string // the task's files in that attempt; "" if no attempt here has the receipt
	several bool   // the digits are those of attempts that differ: whoever makes two such wants one for the other
}

// fits tells whether an override was given for this attempt; nil is a student without one.
func (g given) fits(r *record.Record) bool {
	if g.several {
		return false
	}
	if r == nil || r.Trouble != "" {
		return g.receipt == unread
	}
	if g.receipt != unread && strings.HasPrefix(r.Submission.SHA256, g.receipt) {
		return true
	}
	part := r.Task(g.Task)
	return part != nil && g.files != "" && part.Files == g.files
}

// key names a row of overrides.csv: if any of it changes, it is another.
func (o Override) key() string {
	return strings.Join([]string{o.Student, o.what(), Number(o.Points), o.Reason, o.By, o.Public}, "\x1f")
}

// what is the check, or the task, as overrides.csv names it.
func (o Override) what() string {
	if o.Check == "" {
		return string(o.Task)
	}
	return string(o.Task) + "/" + o.Check
}

// bound finds the attempts that overrides were given for.
func (c Class) bound(attempts map[string][]*record.Record) (all []given) {
	without := c
	without.given = nil
	for _, o := range c.Tables.Overrides {
		g := given{Override: o, receipt: o.Receipt}
		if g.receipt == "" {
			g.receipt = c.Tables.Accepted[o.key()]
		}
		if g.receipt == "" {
			g.receipt = unread
			counting, _ := without.counting(record.Student{ID: o.Student}, attempts[o.Student])
			for _, t := range counting {
				if t.Rubric.Name == o.Task && t.Record != nil && t.Record.Trouble == "" {
					g.receipt = t.Record.Submission.SHA256
				}
			}
			if c.Tables.Accepted != nil {
				c.Tables.Accepted[o.key()] = g.receipt
			}
		}
		whole := ""
		for _, r := range attempts[o.Student] {
			if g.receipt == unread || !strings.HasPrefix(r.Submission.SHA256, g.receipt) {
				continue
			}
			g.several = g.several || whole != "" && whole != r.Submission.SHA256
			whole = r.Submission.SHA256
			if part := r.Task(o.Task); part != nil {
				g.files = part.Files
			}
		}
		all = append(all, g)
	}
	return all
}

// readable are the attempts that could be read, in order.
func readable(attempts []*record.Record) []*record.Record {
	return slices.DeleteFunc(slices.Clone(attempts), func(r *record.Record) bool { return r.Trouble != "" })
}

func (c Class) rubric(task registry.Name) *rubric.Task {
	if i := slices.IndexFunc(c.Rubrics, func(t *rubric.Task) bool { return t.Name == task }); i >= 0 {
		return c.Rubrics[i]
	}
	return nil
}

// override is the last one for a check of an attempt; "" is the whole task.
func (c Class) override(s record.Student, task registry.Name, check string, r *record.Record) (last *Override) {
	for i, g := range c.given {
		if g.Student == s.ID && g.Task == task && g.Check == check && g.fits(r) {
			last = &c.given[i].Override
		}
	}
	return last
}

// overridden says which overrides no longer count, and which have no receipt.
func (c Class) overridden(all []given, entries []Entry) (notes []string) {
	for _, g := range all {
		e := slices.IndexFunc(entries, func(e Entry) bool { return e.Student.ID == g.Student })
		if e < 0 {
			continue // reported with the other rows of nobody
		}
		var now *record.Record
		for _, t := range entries[e].Tasks {
			if t.Rubric.Name == g.Task {
				now = t.Record
			}
		}
		row := fmt.Sprintf("%s: %s's %s for %s", g.Where(), g.Student, points(g.Points), g.what())
		switch {
		case g.several:
			notes = append(notes, fmt.Sprintf("%s do not count: attempts that differ have the receipt %s. That does not happen by chance: look at them, and write all 64 digits of one (SHA256 in its record) into the column receipt", row, short(g.receipt)))
		case !g.fits(now) && !slices.ContainsFunc(all, func(other given) bool {
			return other.Student == g.Student && other.what() == g.what() && other.fits(now)
		}):
			notes = append(notes, fmt.Sprintf("%s no longer count: they were given for %s, and %s counts now. To give them again, write %s into the column receipt",
				row, named(g.receipt), named(receiptOf(now)), short(receiptOf(now))))
		case g.Receipt == "" && g.fits(now):
			notes = append(notes, fmt.Sprintf("%s have no receipt, and count only for %s: to record that, write %s into a column receipt", row, named(g.receipt), short(g.receipt)))
		}
	}
	return notes
}

func receiptOf(r *record.Record) string {
	if r == nil || r.Trouble != "" {
		return unread
	}
	return r.Submission.SHA256
}

func named(receipt string) string {
	if receipt == unread {
		return "a student without a readable attempt"
	}
	return "the attempt with receipt " + short(receipt)
}

func short(receipt string) string { return handin.Receipt(receipt).Short() }

func points(n float64) string {
	if n == 1 {
		return "1 point"
	}
	return Number(n) + " points"
}

// receipt reads the column: digits of a hash, with or without blanks.
func receipt(cell string) (string, error) {
	digits := strings.ToLower(strings.ReplaceAll(cell, " ", ""))
	if digits == "" || digits == unread {
		return digits, nil
	}
	if len(digits) < 12 || len(digits) > 64 || strings.Trim(digits, "0123456789abcdef") != "" {
		return "", fmt.Errorf("receipt %q: want the attempt's receipt, 12 digits of the gradebook, or %q if nothing could be read", cell, unread)
	}
	return digits, nil
}

// worthOf is the most that an override may give.
func (c Class) worthOf(o Override) (float64, error) {
	t := c.rubric(o.Task)
	if t == nil {
		return 0, fmt.Errorf("task %s is not in this tree", o.Task)
	}
	if !c.Course.Graded(o.Task) {
		return 0, fmt.Errorf("task %s is not graded in this course", o.Task)
	}
	t = c.scaled(t)
	if o.Check == "" {
		return t.Points, nil
	}
	var have []string
	for _, rc := range t.Checks {
		if rc.ID == o.Check {
			return rc.Points, nil
		}
		have = append(have, rc.ID)
	}
	return 0, fmt.Errorf("task %s has no check %q; it has %s", o.Task, o.Check, strings.Join(have, ", "))
}
