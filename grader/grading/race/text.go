package race

import (
	"fmt"
	"strings"

	"flashlab/grader/grading/timing"
)

// Right tells whether all that ran wrote what it should, in times that are believed.
func (r Row) Right() bool {
	if r.Left != "" {
		return false
	}
	for _, e := range r.Entries {
		if e.Wrong != "" || e.Held != "" {
			return false
		}
	}
	return true
}

// Rates of a median time, in words: of operations, and of bytes.
func (r Row) Rates(ns float64) (tflops, tbps float64) {
	if ns == 0 {
		return 0, 0
	}
	return r.Work.FLOPS / ns / 1000, r.Work.Bytes / ns / 1000
}

// Text is the row for a terminal.
func (r Row) Text(t SelfTest) string {
	var s strings.Builder
	fmt.Fprintf(&s, "\n%s\n", r.Name)
	if r.Left != "" {
		fmt.Fprintf(&s, "  not run: %s\n", r.Left)
	}
	for i, e := range r.Entries {
		fmt.Fprintf(&s, "  %-18s %s\n", e.Name, r.EntryText(e, i, t))
	}
	return s.String()
}

// EntryText is what entry i has to say, on one line.
func (r Row) EntryText(e Entry, i int, t SelfTest) string {
	switch {
	case e.Wrong != "":
		return "wrong: " + e.Wrong
	case e.Not != "" && e.Error > 0:
		return fmt.Sprintf("not measured: %s; outputs right (worst error %.2g, %.2f of the bound)", e.Not, e.Worst, e.Error)
	case e.Not != "" || e.Stats.N == 0:
		return "not measured: " + e.Not
	}
	text := fmt.Sprintf("%10s (%s to %s, %d runs", Microseconds(e.Stats.Median), Microseconds(e.Stats.Q1), Microseconds(e.Stats.Q3), e.Stats.N)
	if e.Stats.Outliers > 0 {
		text += fmt.Sprintf(", %d far off, to %s", e.Stats.Outliers, Microseconds(e.Stats.Most))
	}
	text += ")"
	b := r.Bound(t)
	text += "  " + b.Rate(r, e.Stats.Median)
	if of := b.Of(e.Stats.Median); of != "" {
		text += ", " + of
	}
	if e.Usual > 0 {
		text += fmt.Sprintf("  error %.1e", e.Usual)
	}
	if i > 0 {
		text += "  " + ratioText(r.Entries[0].Name, r.Ratio(e))
	}
	if not := e.NotHidden(); not != "" {
		text += "\n                     " + not
	}
	if e.Held != "" {
		text += "\n                     held for review: " + e.Held
	}
	return text
}

func ratioText(ours string, s timing.Stats) string {
	if s.N == 0 {
		return ""
	}
	return fmt.Sprintf("%s is × %.3f as fast (%.3f to %.3f; the median lies between %.3f and %.3f)", ours, s.Median, s.Q1, s.Q3, s.Low, s.High)
}
