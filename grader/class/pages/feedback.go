package pages

import (
	"fmt"
	"slices"
	"strings"

	"flashlab/grader/class/gradebook"
	"flashlab/grader/grading/handin"
	"flashlab/grader/grading/report"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/verdict"
	"flashlab/grader/tasks/registry"
)

// feedback is what feedback.html shows. It holds nothing that a student may not see: hidden
// cases are counted, and of a held check there is only that it awaits a person.
type feedback struct {
	Course, Who, Sentence            string
	Attempt                          int
	Receipt, Submitted, Release      string
	Trouble                          string
	Notes                            []string
	Extra                            string
	Tasks                            []feedbackTask
	Points, Of, Share                float64
	NeedGPU, Awaiting, NotMeasuredOf float64
}

type feedbackTask struct {
	Number     registry.Name
	Title      string
	Points, Of float64
	Blank      bool
	Share      float64 // of Of; -1 if nothing was measured
	Remarks    []string
	Refused    string
	On         string // device, seed, command
	Versions   string
	Checks     []feedbackCheck
	Manual     []feedbackMark
}

type feedbackCheck struct {
	Title  string
	Parts  []feedbackPart
	Blocks []report.Block
	Show   string // the command that draws a case of it that went wrong; "" for none
}

type feedbackPart struct {
	Name, Words string
	Reasons     []string // lines of code
	Score, Max  float64
	Measured    bool
	Mark        string // "full", "part", "none" or "not"
}

type feedbackMark struct {
	Title, Comment string
	Points, Of     float64
	Given          bool
}

func feedbackOf(c gradebook.Class, e gradebook.Entry) feedback {
	f := feedback{Course: c.Course.Title, Who: who(e), Sentence: e.Sentence(), Points: e.Points, Of: e.Of, Share: share(e.Points, e.Of),
		NeedGPU: e.GPU, Awaiting: e.Awaiting, NotMeasuredOf: e.NotGraded}
	if r := e.Last(); r != nil {
		f.Attempt, f.Release, f.Trouble, f.Notes = r.Attempt, r.Release, r.Trouble, r.Submission.Notes
		f.Receipt = handin.Receipt(r.Submission.SHA256).Short()
		f.Extra = strings.Join(r.Submission.Extra, ", ")
		if r.Submitted != nil {
			f.Submitted = c.When(*r.Submitted)
		}
	}
	for _, t := range e.Tasks {
		f.Tasks = append(f.Tasks, feedbackTaskOf(t))
	}
	return f
}

func feedbackTaskOf(t gradebook.Task) feedbackTask {
	one := feedbackTask{Number: t.Rubric.Name, Title: t.Rubric.Title, Points: t.Final, Of: t.Of, Blank: t.Blank(), Share: share(t.Final, t.Of), Remarks: t.Remarks()}
	for _, m := range t.Manual {
		mark := feedbackMark{Title: first(m.Title, m.ID), Of: m.Of}
		if m.Mark != nil {
			mark.Points, mark.Comment, mark.Given = m.Mark.Points, m.Mark.Comment, true
		}
		one.Manual = append(one.Manual, mark)
	}
	v, ok := t.Verdict()
	if !ok {
		return one
	}
	one.Refused, one.Versions = v.Refused, v.Versions
	one.On = first(v.Device, "no device")
	for _, c := range v.Checks {
		k := feedbackCheck{Title: first(c.Title, c.ID)}
		for _, p := range c.Parts {
			k.Parts = append(k.Parts, feedbackPart{Name: p.Name, Words: report.Words(p), Reasons: report.Reasons(c, p), Score: p.Score, Max: p.Max, Measured: p.NotMeasured == "", Mark: markOf(p)})
		}
		if v.Refused == "" {
			k.Blocks = report.Blocks(v, c)
			k.Show = showOf(t.Rubric, c)
		}
		one.Checks = append(one.Checks, k)
	}
	return one
}

// showOf is the command for the page of a case that students know and that a kernel got wrong: the
// first with a finding, else the first that failed, else the first whose traffic costs points.
func showOf(t *rubric.Task, c verdict.Check) string {
	if !t.OnDevice() {
		return ""
	}
	name := ""
	if i := slices.IndexFunc(c.Findings, func(f verdict.Found) bool { return f.Case != "" }); i >= 0 {
		name = c.Findings[i].Case
	}
	known := func(wrong func(verdict.Outcome) bool) {
		i := slices.IndexFunc(c.Cases, func(o verdict.Outcome) bool { return !o.Hidden && !o.Refused && wrong(o) })
		if name == "" && i >= 0 {
			name = c.Cases[i].Name
		}
	}
	known(func(o verdict.Outcome) bool { return !o.Passed })
	if slices.ContainsFunc(c.Parts, func(p verdict.Part) bool { return p.Name == "traffic" && markOf(p) != "full" && markOf(p) != "not" }) {
		known(func(o verdict.Outcome) bool { return o.Traffic })
	}
	if name == "" {
		return ""
	}
	return fmt.Sprintf("make show TASK=%s CASE=%s/%s", t.Name, c.ID, name)
}

func markOf(p verdict.Part) string {
	switch {
	case p.NotMeasured != "":
		return "not"
	case p.Score >= p.Max-1e-9:
		return "full"
	case p.Score > 1e-9:
		return "part"
	}
	return "none"
}

// who names a student as the class does.
func who(e gradebook.Entry) string { return first(e.Student.Name, e.Student.ID) }

func first(words ...string) string {
	for _, w := range words {
		if w != "" {
			return w
		}
	}
	return ""
}

// share is a part of a whole; -1 where there is no whole.
func share(part, of float64) float64 {
	if of <= 0 {
		return -1
	}
	return part / of
}
