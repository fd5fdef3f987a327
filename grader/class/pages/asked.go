package pages

import (
	"fmt"
	"slices"
	"strings"

	"flashlab/grader/class/gradebook"
	"flashlab/grader/class/record"
	"flashlab/grader/grading/handin"
	"flashlab/grader/grading/report"
	"flashlab/grader/grading/verdict"
	"flashlab/internal/harmless"
)

// askedRow is a regrade request without an answer, with what was measured.
type askedRow struct {
	Who, Student, What, ID  string
	Attempt                 int // 0 where it is about none
	Receipt, Reason, Odd    string
	Numbers                 []string
	Command, Line, Override string
}

// askedOf are an entry's open requests but for those of its group that are there already.
func askedOf(in Input, e gradebook.Entry, before []askedRow) (rows []askedRow) {
	for _, a := range e.Asked {
		if !a.Open() || slices.ContainsFunc(before, func(r askedRow) bool { return r.ID == a.ID }) {
			continue
		}
		row := askedRow{Who: who(e), Student: e.Student.ID, What: a.What(), ID: a.ID, Reason: a.Reason, Line: harmless.Row(e.Student.ID, a.ID, "ANSWER", "YOUR NAME")}
		row.fill(in, e, a)
		rows = append(rows, row)
	}
	return rows
}

// fill adds what was measured of the attempt that it is about.
func (row *askedRow) fill(in Input, e gradebook.Entry, a gradebook.Asked) {
	at := slices.IndexFunc(e.Tasks, func(t gradebook.Task) bool { return t.Rubric.Name == a.Task })
	if at < 0 {
		row.Odd = fmt.Sprintf("Task %s is not graded in this course.", a.Task)
		return
	}
	t := e.Tasks[at]
	if !slices.ContainsFunc(t.Checks, func(k gradebook.Check) bool { return k.ID == a.Check }) {
		row.Odd = fmt.Sprintf("Task %s has no check %q.", a.Task, a.Check)
		return
	}
	switch {
	case a.About == nil:
		row.Odd = "No attempt that could be read has the receipt " + a.Receipt + ". The numbers are of the one that counts."
	case t.Record != nil && a.About.Attempt != t.Record.Attempt:
		part, counted := a.About.Task(a.Task), t.Record.Task(a.Task)
		if part == nil || counted == nil || part.Files != counted.Files {
			row.Odd = fmt.Sprintf("It is about attempt %d, and attempt %d counts, with other files. The numbers are of the one that counts.", a.About.Attempt, t.Record.Attempt)
		}
	}
	if t.Record == nil || t.Part == nil {
		return
	}
	row.Attempt, row.Receipt = t.Record.Attempt, handin.Receipt(t.Record.Submission.SHA256).Short()
	only := a.Check
	if c := measured(t, a.Check); c != nil {
		row.Numbers = numbersOf(t.Part, *c, a.Case)
		if slices.ContainsFunc(c.Cases, func(k verdict.Outcome) bool { return k.Name == a.Case }) {
			only += "/" + a.Case
		}
	}
	row.Command = again(in, t, only)
	row.Override = harmless.Row(e.Student.ID, string(a.Task)+"/"+a.Check, "POINTS", "REASON", "YOUR NAME", row.Receipt)
}

// numbersOf is what was measured of a check, part by part, and of the case.
func numbersOf(part *record.Task, c verdict.Check, name string) (all []string) {
	if part.Failed != "" {
		return []string{"grading failed: " + part.Failed}
	}
	if part.Result.Refused != "" {
		return []string{"it was not run: " + part.Result.Refused}
	}
	for _, p := range c.Parts {
		if p.NotMeasured != "" {
			all = append(all, p.Name+": "+report.Words(p))
			continue
		}
		all = append(all, fmt.Sprintf("%s: %s of %s points, %s", p.Name, gradebook.Number(p.Score), gradebook.Number(p.Max), report.Words(p)))
	}
	if name == "" {
		return all
	}
	at := slices.IndexFunc(c.Cases, func(k verdict.Outcome) bool { return k.Name == name })
	if at < 0 {
		return append(all, fmt.Sprintf("the case %q was not run", name))
	}
	return append(all, numbersOfCase(c.Cases[at])...)
}

func numbersOfCase(k verdict.Outcome) (all []string) {
	head := "the case " + k.Name
	if k.Hidden {
		head += " (hidden)"
	}
	switch {
	case k.Passed && k.Bound > 0:
		all = append(all, fmt.Sprintf("%s: right; largest error %.3g, allowed %.3g", head, k.Error, k.Bound))
	case k.Passed:
		all = append(all, head+": right")
	default:
		all = append(all, strings.Join(append([]string{head + ": wrong: " + k.Reason}, k.Details...), "; "))
	}
	if k.Moved > 0 && k.Least > 0 {
		all = append(all, fmt.Sprintf("it moved %d bytes, %.2f times the least (%d)", k.Moved, k.Ratio(), k.Least))
	}
	if k.Suspect != "" {
		all = append(all, "suspect: "+k.Suspect+" ("+k.Facts+")")
	}
	return all
}
