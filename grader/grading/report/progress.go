package report

import (
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/jedib0t/go-pretty/v6/progress"
	"github.com/jedib0t/go-pretty/v6/text"
	"golang.org/x/term"
)

// Bar is the last line of a terminal, which shows how far something is. Finished lines are
// written above it.
type Bar struct {
	out     io.Writer
	writer  progress.Writer
	tracker *progress.Tracker
	total   atomic.Int64
	done    chan struct{} // closed when nothing more is drawn
}

// Widths of a terminal, in columns, from which there is room for optional parts.
const (
	roomForBar = 60
	roomForETA = 100
)

// NewBar draws. What matters most comes first, because the line is cut where the terminal ends.
func NewBar(w io.Writer, message string, eta bool) *Bar {
	b := &Bar{out: w, writer: progress.NewWriter(), done: make(chan struct{})}
	b.writer.SetOutputWriter(w)
	b.writer.SetTrackerLength(20)
	b.writer.SetUpdateFrequency(100 * time.Millisecond)
	b.writer.SetStyle(progress.StyleBlocks)
	width := Width()
	style := b.writer.Style()
	style.Visibility.Percentage = false
	style.Visibility.Tracker = width >= roomForBar
	style.Visibility.ETA = eta && width >= roomForETA
	style.Options.Separator = " "
	style.Options.TimeInProgressPrecision = time.Second
	// It never counts as done: the last lines above it are drawn with it, or not at all.
	b.tracker = &progress.Tracker{Message: message, AutoStopDisabled: true, Units: progress.Units{Formatter: b.count}}
	b.writer.AppendTracker(b.tracker)
	go func() { b.writer.Render(); close(b.done) }()
	for !b.writer.IsRenderInProgress() { // or a Stop at once would come too early
		time.Sleep(time.Millisecond)
	}
	return b
}

func (b *Bar) count(value int64) string {
	if total := b.total.Load(); total > 0 {
		return fmt.Sprintf("%d of %d", value, total)
	}
	return fmt.Sprint(value)
}

// Update says how many are done, and what comes next.
func (b *Bar) Update(done, all int, message string) {
	b.total.Store(int64(all))
	b.tracker.UpdateTotal(int64(all))
	b.tracker.SetValue(int64(done))
	b.tracker.UpdateMessage(message)
}

// Log writes a line above.
func (b *Bar) Log(line string) { b.writer.Log("%s", line) }

// Stop removes the line, and returns when the terminal is free.
func (b *Bar) Stop() {
	b.writer.Stop()
	<-b.done
	fmt.Fprint(b.out, text.CursorUp.Sprint(), text.EraseLine.Sprint())
}

// Width is the terminal's, in columns; 0 if standard output is not a terminal.
func Width() int {
	width, _, err := term.GetSize(int(os.Stdout.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// Progress shows that something happens: a bar in a terminal; nothing in a
// file, which nobody watches.
type Progress struct{ bar *Bar }

// NewProgress starts showing a run.
func NewProgress(w io.Writer, terminal bool, title string) *Progress {
	if !terminal {
		return &Progress{}
	}
	return &Progress{NewBar(w, title+": building", false)}
}

// Case notes that a case is done.
func (p *Progress) Case(done, all int, name string) {
	if p.bar != nil {
		p.bar.Update(done, all, name)
	}
}

// Stop removes the bar, and returns when the terminal is free.
func (p *Progress) Stop() {
	if p.bar != nil {
		p.bar.Stop()
	}
}
