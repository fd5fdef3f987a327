package batch

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"flashlab/grader/class/intake"
	"flashlab/grader/class/record"
	"flashlab/grader/grading/report"
	"flashlab/grader/tasks/registry"
	"flashlab/internal/harmless"
)

// Progress shows a batch's progress: a bar in a terminal, and, there and in a pipe, a line for each
// submission that is done.
type Progress struct {
	mu       sync.Mutex
	out      io.Writer
	terminal bool
	bar      *report.Bar // nil without a terminal
	all      int
	done     int
	working  map[string]string // submissions in work, and what of them
	measured Measured
}

// Measured says what an attempt came to: "4 of 5 points". The gradebook knows.
type Measured func(*record.Record) string

// NewProgress starts showing.
func NewProgress(w io.Writer, terminal bool, measured Measured) *Progress {
	return &Progress{out: w, terminal: terminal, measured: measured, working: map[string]string{}}
}

// Begin is told how many submissions there are.
func (p *Progress) Begin(submissions int) {
	p.all = submissions
	if p.terminal {
		p.bar = report.NewBar(p.out, "starting", true)
		p.bar.Update(0, p.all, "starting")
	}
}

// Step is told of a case.
func (p *Progress) Step(i intake.Item, task registry.Name, done, all int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	doing := "building" // by far the longest, the first time on a machine
	if done > 0 {
		doing = fmt.Sprintf("%d of %d cases", done, all)
	}
	p.working[name(i)] = fmt.Sprintf("%s: task %s, %s", name(i), task, doing)
	p.draw()
}

// draw shows what is being graded.
func (p *Progress) draw() {
	if p.bar != nil {
		p.bar.Update(p.done, p.all, strings.Join(slices.Sorted(maps.Values(p.working)), "; "))
	}
}

// Done is told of a submission.
func (p *Progress) Done(i intake.Item, r *record.Record, fresh int, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done++
	delete(p.working, name(i))
	line := harmless.Line(fmt.Sprintf("%*d/%d  %s: %s", len(fmt.Sprint(p.all)), p.done, p.all, name(i), outcome(r, fresh, err, p.measured)))
	if p.bar == nil {
		harmless.Fprintln(p.out, line)
		return
	}
	p.bar.Log(line)
	p.draw()
}

// Stop removes the bar.
func (p *Progress) Stop() {
	if p.bar != nil {
		p.bar.Stop()
	}
}

// name is how a line of ours refers to a submission.
func name(i intake.Item) string {
	if i.Attempt > 1 {
		return harmless.Line(fmt.Sprintf("%s, attempt %d", i.Student.ID, i.Attempt))
	}
	return harmless.Line(i.Student.ID)
}

func outcome(r *record.Record, fresh int, err error, measured Measured) string {
	switch {
	case err != nil:
		first, _, _ := strings.Cut(err.Error(), "\n")
		return "the grader failed: " + first
	case r.Trouble != "":
		return "not graded: " + r.Trouble
	}
	seconds, refused := 0.0, 0
	for _, t := range r.Tasks {
		if t.Times != nil {
			seconds += t.Times.Seconds
		}
		if t.Result.Refused != "" {
			refused++
		}
	}
	line := measured(r)
	if refused > 0 {
		line += fmt.Sprintf(", %s not run", record.Plural(refused, "task"))
	}
	if fresh == 0 {
		return line + " (graded before)"
	}
	return line + fmt.Sprintf(" (%.0f s)", seconds)
}

// Submissions counts them, in words.
func Submissions(n int) string { return record.Plural(n, "submission") }
