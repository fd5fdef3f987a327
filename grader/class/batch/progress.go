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
}

// NewProgress starts showing.
func NewProgress(w io.Writer, terminal bool) *Progress {
	return &Progress{out: w, terminal: terminal, working: map[string]string{}}
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
	line := harmless.Line(fmt.Sprintf("%*d/%d  %s: %s", len(fmt.Sprint(p.all)), p.done, p.all, name(i), outcome(r, fresh, err)))
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

func outcome(r *record.Record, fresh int, err error) string {
	switch {
	case err != nil:
		first, _, _ := strings.Cut(err.Error(), "\n")
		return "the grader failed: " + first
	case r.Trouble != "":
		return "not graded: " + r.Trouble
	}
	var got, most, seconds float64
	refused := 0
	for _, t := range r.Tasks {
		a, b := t.Result.Points()
		got, most = got+a, most+b
		if t.Times != nil {
			seconds += t.Times.Seconds
		}
		if t.Result.Refused != "" {
			refused++
		}
	}
	line := fmt.Sprintf("%s of %s points", report.Points(got), report.Points(most))
	if refused > 0 {
		noun := "tasks"
		if refused == 1 {
			noun = "task"
		}
		line += fmt.Sprintf(", %d %s not run", refused, noun)
	}
	if fresh == 0 {
		return line + " (graded before)"
	}
	return line + fmt.Sprintf(" (%.0f s)", seconds)
}

// Submissions counts them, in words.
func Submissions(n int) string {
	if n == 1 {
		return "1 submission"
	}
	return fmt.Sprintf("%d submissions", n)
}
