package gradebook

import (
	"fmt"
	"slices"
	"strings"

	"flashlab/grader/class/record"
	"flashlab/grader/grading/handin"
	"flashlab/grader/grading/report"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/verdict"
)

// Verdict is a task's result as the student may see it: checks that a person has to decide on, or
// has decided on, do not show the grader's points.
func (t Task) Verdict() (verdict.Verdict, bool) {
	if t.Part == nil || t.Part.Failed != "" {
		return verdict.Verdict{}, false
	}
	v := t.Part.Result
	v.Held = nil // the reasons are the instructor's
	v.Checks = slices.Clone(v.Checks)
	for i, c := range v.Checks {
		v.Checks[i].Findings = forStudents(c.Findings)
		c = v.Checks[i]
		why := ""
		at := slices.IndexFunc(t.Checks, func(k Check) bool { return k.ID == c.ID })
		switch {
		case at < 0:
		case t.Checks[at].Held != nil:
			why = verdict.Awaiting
		case t.Checks[at].Override != nil:
			why = "decided by a person"
		}
		if why == "" {
			continue
		}
		c.Parts = slices.Clone(c.Parts)
		for j := range c.Parts {
			c.Parts[j].NotMeasured, c.Parts[j].NeedsGPU = why, false
		}
		v.Checks[i] = c
	}
	return v, true
}

func forStudents(found []verdict.Found) (all []verdict.Found) {
	for _, f := range found {
		all = append(all, f.ForStudents())
	}
	return all
}

// Feedback is feedback.md: what one student gets to read.
func (c Class) Feedback(e Entry) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s: %s\n\n", c.Course.Title, text(first(e.Student.Name, e.Student.ID)))
	fmt.Fprintf(&b, "**%s**\n\n", e.Sentence())
	if r := e.record(); r != nil {
		fmt.Fprintf(&b, "Attempt %d, receipt %s", r.Attempt, first(handin.Receipt(r.Submission.SHA256).Short(), "none"))
		if r.Submitted != nil {
			fmt.Fprintf(&b, ", handed in %s", c.When(*r.Submitted))
		}
		fmt.Fprintf(&b, "; graded with %s.\n", r.Release)
		if r.Trouble != "" {
			fmt.Fprintf(&b, "\nIt could not be graded: %s.\n", text(strings.TrimSuffix(r.Trouble, ".")))
		}
		for _, n := range r.Submission.Notes {
			fmt.Fprintf(&b, "Note: %s.\n", text(n))
		}
		if extra := r.Submission.Extra; len(extra) > 0 {
			fmt.Fprintf(&b, "\nNot graded, because the tasks do not ask for it: %s.\n", text(strings.Join(extra, ", ")))
		}
	}
	if s := e.Shown.Sentence(); s != "" {
		fmt.Fprintf(&b, "\n%s\n", text(s))
	}
	for _, a := range e.Asked {
		fmt.Fprintf(&b, "\n%s\n", text(a.Sentence()))
	}
	b.WriteString("\n| task | points | of | |\n| --- | --- | --- | --- |\n")
	for _, t := range e.Tasks {
		fmt.Fprintf(&b, "| %s: %s | %s | %s | %s |\n", t.Rubric.Name, t.Rubric.Title, first(blank(t.Final, t.Blank()), "–"), Number(t.Of), text(strings.Join(t.remarks(), "; ")))
	}
	b.WriteString("\n")
	for _, t := range e.Tasks {
		b.WriteString(t.section())
	}
	return b.String()
}

// section is the task's: what was measured, and what a person gave for it below the heading.
func (t Task) section() string {
	var given strings.Builder
	for _, m := range t.Manual {
		if m.Mark != nil {
			fmt.Fprintf(&given, "%s: %s of %s points. %s\n\n", text(first(m.Title, m.ID)), Number(m.Mark.Points), Number(m.Of), text(m.Mark.Comment))
		}
	}
	v, ok := t.Verdict()
	if !ok && given.Len() == 0 {
		return ""
	}
	if !ok {
		return fmt.Sprintf("## Task %s: %s\n\n%s", t.Rubric.Name, t.Rubric.Title, given.String())
	}
	heading, rest, _ := strings.Cut(report.Section(v), "\n\n")
	return heading + "\n\n" + given.String() + rest
}

// Results is the entry's Results.md: what was measured, as the student may see it, before deadlines and
// what people decide.
func (c Class) Results(e Entry) (string, error) {
	text, _, err := c.results(e)
	return text, err
}

// results are the same with its totals.
func (c Class) results(e Entry) (string, []report.Total, error) {
	var tasks []*rubric.Task
	var verdicts []verdict.Verdict
	for _, t := range e.Tasks {
		tasks = append(tasks, t.Rubric)
		if v, ok := t.Verdict(); ok {
			verdicts = append(verdicts, v)
		}
	}
	return report.ResultsOf(tasks, verdicts)
}

// Sentence sums the grade up: "14 of 15 points; 3 need a GPU; 2 await a person".
func (e Entry) Sentence() string {
	if e.Attempts == 0 {
		return "Nothing was handed in."
	}
	parts := []string{fmt.Sprintf("%s of %s points", Number(e.Points), Number(e.Of))}
	if e.Unread() && e.Of == 0 {
		parts = []string{"What was handed in could not be read, so there are no points yet"}
	}
	for _, left := range []struct {
		points float64
		words  string
	}{{e.GPU, "need a GPU"}, {e.Awaiting, "await a person"}, {e.NotGraded, "are not measured yet"}} {
		if left.points > 0 {
			parts = append(parts, Number(left.points)+" "+left.words)
		}
	}
	if e.Bonus.Of > 0 {
		parts = append(parts, fmt.Sprintf("bonus: %s of %s", Number(e.Bonus.Points), Number(e.Bonus.Of)))
	}
	if s := e.SlipSentence(); s != "" {
		parts = append(parts, s)
	}
	return strings.Join(parts, "; ")
}

// remarks are what a student should know in addition to the points.
func (t Task) remarks() []string {
	var all []string
	for _, left := range []struct {
		points float64
		words  string
	}{{t.GPU, "need a GPU"}, {t.Awaiting, "await a person"}, {t.NotGraded, "not measured yet"}} {
		if left.points > 0 {
			all = append(all, Number(left.points)+" "+left.words)
		}
	}
	for _, n := range t.Notes {
		if n.Student != "" {
			all = append(all, n.Student)
		}
	}
	return all
}

// record is the latest attempt that any task counts.
func (e Entry) record() (last *record.Record) {
	for _, t := range e.Tasks {
		if t.Record != nil && (last == nil || t.Record.Attempt > last.Attempt) {
			last = t.Record
		}
	}
	return last
}

// Gradescope is results.json.
func (c Class) Gradescope(e Entry) report.Gradescope {
	var verdicts []verdict.Verdict
	var output []string
	for _, t := range e.Tasks {
		if v, ok := t.Verdict(); ok {
			verdicts = append(verdicts, v)
		}
		for _, r := range t.remarks() {
			output = append(output, fmt.Sprintf("Task %s: %s", t.Rubric.Name, r))
		}
	}
	g := report.ForGradescope(verdicts)
	g.Score, g.Visibility = e.Points, c.Course.Visibility.Results
	head := []string{e.Sentence()}
	if c.Course.Visibility.Hidden != c.Course.Visibility.Results { // the total would reveal hidden cases
		head[0] = "The results of hidden cases follow later, and the total with them."
	}
	if r := e.record(); r != nil {
		g.ExtraData.Release, g.ExtraData.Receipt = r.Release, r.Submission.SHA256
		if r.Trouble != "" {
			head = append(head, "It could not be graded: "+r.Trouble)
		}
	}
	for _, a := range e.Asked {
		head = append(head, a.Sentence())
	}
	g.Output = strings.TrimSpace(strings.Join(append(head, output...), "\n") + "\n" + g.Output)
	for i := range g.Tests {
		g.Tests[i].Visibility = c.Course.Visibility.Results
		if g.Tests[i].Hidden {
			g.Tests[i].Visibility = c.Course.Visibility.Hidden
		}
	}
	return g
}
