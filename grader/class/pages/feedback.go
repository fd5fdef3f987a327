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
	Shown                            string // on the leaderboard
	Asked                            []gradebook.Asked
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
	Source     []sourceFile // around what was found in it
	Manual     []feedbackMark
}

type feedbackCheck struct {
	Title  string
	Parts  []feedbackPart
	Blocks []feedbackBlock
	Show   string // the command that draws a case of it that went wrong; "" for none
}

// feedbackBlock is what went wrong. Goes is the id of the line that it is about, ID its own.
type feedbackBlock struct {
	report.Block
	ID, Goes string
}

// feedbackReason is a line of code that costs points.
type feedbackReason struct {
	Where, Text, Goes string // Where "" if the line is not on the page: then Text has its place
}

type feedbackPart struct {
	Name, Words string
	ID          string
	Reasons     []feedbackReason
	Score, Max  float64
	Measured    bool
	Mark        string // "full", "part", "none" or "not"
}

type feedbackMark struct {
	Title, Comment string
	Points, Of     float64
	Given          bool
}

func feedbackOf(in Input, e gradebook.Entry) feedback {
	c := in.Class
	f := feedback{Course: c.Course.Title, Who: who(e), Sentence: e.Sentence(), Points: e.Points, Of: e.Of, Share: share(e.Points, e.Of),
		NeedGPU: e.GPU, Awaiting: e.Awaiting, NotMeasuredOf: e.NotGraded, Shown: e.Shown.Sentence(), Asked: e.Asked}
	if r := e.Last(); r != nil {
		f.Attempt, f.Release, f.Trouble, f.Notes = r.Attempt, r.Release, r.Trouble, r.Submission.Notes
		f.Receipt = handin.Receipt(r.Submission.SHA256).Short()
		f.Extra = strings.Join(r.Submission.Extra, ", ")
		if r.Submitted != nil {
			f.Submitted = c.When(*r.Submitted)
		}
	}
	for _, t := range e.Tasks {
		f.Tasks = append(f.Tasks, feedbackTaskOf(t, in.filesOf(t)))
	}
	return f
}

func feedbackTaskOf(t gradebook.Task, files map[string][]byte) feedbackTask {
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
	source := annotatedOf(t.Rubric, files)
	for i, c := range v.Checks {
		one.Checks = append(one.Checks, feedbackCheckOf(t, v, c, fmt.Sprintf("%s-c%d", source.task, i), source))
	}
	one.Source = source.rows()
	return one
}

// feedbackCheckOf is a check on the page. id begins those of its parts and blocks; source collects what is
// said about lines.
func feedbackCheckOf(t gradebook.Task, v verdict.Verdict, c verdict.Check, id string, source *annotated) feedbackCheck {
	k := feedbackCheck{Title: first(c.Title, c.ID)}
	if v.Refused == "" {
		for i, b := range report.Blocks(v, c) {
			one := feedbackBlock{Block: b, ID: fmt.Sprintf("%s-b%d", id, i)}
			if b.Found != nil {
				one.Goes = source.found(*b.Found, one.ID)
			}
			k.Blocks = append(k.Blocks, one)
		}
		k.Show = showOf(t.Rubric, c)
	}
	for i, p := range c.Parts {
		part := feedbackPart{Name: p.Name, ID: fmt.Sprintf("%s-p%d", id, i), Words: report.Words(p), Score: p.Score, Max: p.Max, Measured: p.NotMeasured == "", Mark: markOf(p)}
		for _, why := range report.Reasons(c, p) {
			var r feedbackReason
			r.Where, r.Text, r.Goes = source.reason(why, part.ID)
			part.Reasons = append(part.Reasons, r)
		}
		k.Parts = append(k.Parts, part)
	}
	return k
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
