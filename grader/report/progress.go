package report

import (
	"fmt"
	"io"
	"time"

	"github.com/jedib0t/go-pretty/v6/progress"
	"github.com/jedib0t/go-pretty/v6/text"
)

// Progress shows that something happens: a bar in a terminal; nothing in a
// file, which nobody watches.
type Progress struct {
	out     io.Writer
	writer  progress.Writer
	tracker *progress.Tracker
	done    chan struct{} // closed when nothing more is drawn
}

// NewProgress starts showing a run.
func NewProgress(w io.Writer, terminal bool, title string) *Progress {
	if !terminal {
		return &Progress{}
	}
	pw := progress.NewWriter()
	pw.SetOutputWriter(w)
	pw.SetTrackerLength(30)
	pw.SetUpdateFrequency(50 * time.Millisecond)
	pw.SetStyle(progress.StyleBlocks)
	pw.Style().Visibility.Value = true
	pw.Style().Visibility.Speed = false
	pw.Style().Visibility.TrackerOverall = false
	t := &progress.Tracker{Message: title + ": building"}
	pw.AppendTracker(t)
	done := make(chan struct{})
	go func() { pw.Render(); close(done) }()
	for !pw.IsRenderInProgress() { // or a Stop at once would come too early
		time.Sleep(time.Millisecond)
	}
	return &Progress{w, pw, t, done}
}

// Case notes that a case is done.
func (p *Progress) Case(done, all int, name string) {
	if p.writer == nil {
		return
	}
	p.tracker.UpdateTotal(int64(all))
	p.tracker.SetValue(int64(done))
	p.tracker.UpdateMessage(fmt.Sprintf("%-28s", name))
}

// Stop takes the bar away, and returns when the terminal is free.
func (p *Progress) Stop() {
	if p.writer == nil {
		return
	}
	p.tracker.MarkAsDone()
	p.writer.Stop()
	<-p.done
	fmt.Fprint(p.out, text.CursorUp.Sprint(), text.EraseLine.Sprint())
}
