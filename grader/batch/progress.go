package batch

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jedib0t/go-pretty/v6/progress"
	"github.com/jedib0t/go-pretty/v6/text"

	"flashlab/grader/intake"
	"flashlab/grader/record"
	"flashlab/grader/report"
)

// Progress shows how a batch goes on: a bar in a terminal, and a line for each submission that is
// done, there and in a pipe.
type Progress struct {
	mu      sync.Mutex
	out     io.Writer
	writer  progress.Writer // nil without a terminal
	tracker *progress.Tracker
	ended   chan struct{}
	all     int
	done    int
	working map[string]string // submissions in work, and what of them
	began   time.Time
}

// NewProgress starts showing.
func NewProgress(w io.Writer, terminal bool) *Progress {
	p := &Progress{out: w, working: map[string]string{}, began: time.Now()}
	if terminal {
		p.writer = progress.NewWriter()
	}
	return p
}

// Begin is told how many submissions there are.
func (p *Progress) Begin(submissions int) {
	p.all = submissions
	if p.writer == nil {
		return
	}
	p.writer.SetOutputWriter(p.out)
	p.writer.SetTrackerLength(30)
	p.writer.SetUpdateFrequency(100 * time.Millisecond)
	p.writer.SetStyle(progress.StyleBlocks)
	p.writer.Style().Visibility.Speed = false
	p.writer.Style().Visibility.ETA = true
	p.tracker = &progress.Tracker{Message: "starting", Total: int64(submissions)}
	p.writer.AppendTracker(p.tracker)
	p.ended = make(chan struct{})
	go func() { p.writer.Render(); close(p.ended) }()
}

// Step is told of a case.
func (p *Progress) Step(i intake.Item, task, done, all int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.working[name(i)] = fmt.Sprintf("%s: task %d", name(i), task)
	if p.tracker != nil {
		p.tracker.UpdateMessage(fmt.Sprintf("%-48.48s", strings.Join(slices.Sorted(maps.Values(p.working)), ", ")))
	}
}

// Done is told of a submission.
func (p *Progress) Done(i intake.Item, r *record.Record, fresh int, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done++
	delete(p.working, name(i))
	line := printable(fmt.Sprintf("%*d/%d  %s: %s", len(fmt.Sprint(p.all)), p.done, p.all, name(i), outcome(r, fresh, err)))
	if p.writer == nil {
		fmt.Fprintln(p.out, line)
		return
	}
	p.writer.Log("%s", line)
	p.tracker.SetValue(int64(p.done))
}

// Stop takes the bar away.
func (p *Progress) Stop() {
	if p.writer == nil || p.ended == nil {
		return
	}
	p.tracker.MarkAsDone()
	p.writer.Stop()
	<-p.ended
	fmt.Fprint(p.out, text.CursorUp.Sprint(), text.EraseLine.Sprint())
}

// name is a submission in a line of ours.
func name(i intake.Item) string {
	if i.Attempt > 1 {
		return printable(fmt.Sprintf("%s, attempt %d", i.Student.ID, i.Attempt))
	}
	return printable(i.Student.ID)
}

// printable keeps what comes from a submission, such as a file's name, from moving the cursor.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '?'
		}
		return r
	}, s)
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
		line += fmt.Sprintf(", %d tasks not run", refused)
	}
	if fresh == 0 {
		return line + " (graded before)"
	}
	return line + fmt.Sprintf(" (%.0f s)", seconds)
}
