package page

import (
	"fmt"
	"strings"
	"time"

	"flashlab/grader/grading/race"
	"flashlab/grader/grading/timing"
)

const intro = `# The reference solutions' figures

Only ` + "`make bench DOCS=1`" + ` and ` + "`make page`" + ` write this file: change nothing here. All runs are in
[reference.json](reference.json). [measuring.md](measuring.md) explains how times are taken.

Times are medians, with the quartiles. Each competitor ran in turns with ours, on new inputs for each run. Rows of each output
were compared with float64: the error is that of a run's worst row, relative to the row's size, in the median of the runs.
× is the median of the ratios of neighbouring runs, their time over ours: above 1, ours is faster. A workload is bound by memory
or by the units that compute, whichever would take longer. 'Of the bound' is the share of a rate that was measured in the same
run: reading alone, a copy, multiply-adds in registers, or products of halves on tensor cores, of which a product of float32 split
into halves takes three. Behind it is the share of the hardware's own figure: what the memory's pins allow, or the units' peak.
`

// Page is all of reference.md, beside the code that is here now.
func (d Document) Page(code Code) string {
	var s strings.Builder
	s.WriteString(intro)
	if len(d.Parts) == 0 {
		s.WriteString("\nNot measured yet.\n")
		return s.String()
	}
	d.writeStale(&s, code)
	d.writeLacks(&s)
	for _, p := range pictures(d) {
		if !p.Empty() {
			fmt.Fprintf(&s, "\n![%s](%s.svg)\n", p.Title, p.name)
		}
	}
	for _, p := range d.Parts {
		if p.GPU == "" {
			p.GPU = d.gpu(p.Seed)
		}
		p.write(&s, current{code})
	}
	return s.String()
}

func (d Document) writeLacks(s *strings.Builder) {
	for _, task := range d.Lacks {
		fmt.Fprintf(s, "\n> **Task %s is not on this page**: the run ended before it. `make bench DOCS=1` times what is missing.\n", task)
	}
}

func (p Part) write(s *strings.Builder, now current) {
	fmt.Fprintf(s, "\n## Task %s: %s\n\n", p.Task, p.Title)
	s.WriteString(p.device())
	if p.Before.Card != "" {
		fmt.Fprintf(s, ", card %s", p.Before.Card)
	}
	fmt.Fprintf(s, ", driver %s", known(p.Before.Driver))
	if p.Test.Library != "" {
		fmt.Fprintf(s, ", %s", p.Test.Library)
	}
	fmt.Fprintf(s, "; %s, commit %s, %s, seed %d.\n",
		p.Date.UTC().Format("2 January 2006, 15:04 UTC"), known(p.Commit), known(p.Go), p.Seed)
	fmt.Fprintf(s, "Before: %v. After: %v.\n", p.Before, p.After)
	if p.Peer != "" {
		fmt.Fprintf(s, "Beside it: %s.\n", p.Peer)
	} else if p.NoPeer != "" {
		fmt.Fprintf(s, "PyTorch was not compared with: %s.\n", p.NoPeer)
	}
	if len(p.Rows) > 0 || p.Test.Not != "" || p.Test.Device.Name != "" {
		fmt.Fprintf(s, "\n%s\n", escape(strings.ReplaceAll(p.Test.String(), "\n", " ")))
	}
	if len(p.Rows) > 0 {
		s.WriteString("\n| workload | | time | rate | of the bound | × | error |\n| --- | --- | --- | --- | --- | --- | --- |\n")
		for _, r := range p.Rows {
			writeRow(s, r, p.Test, mark(now.Stale(p.Task, "", r.Kernels)))
		}
	}
	p.versions(s, now)
	p.models(s, now)
}

// gpu is the GPU of a run, which a part without a self-test does not name itself.
func (d Document) gpu(seed uint64) string {
	for _, p := range d.Parts {
		if p.Seed == seed && p.Test.Device.Name != "" {
			return p.Test.Device.Name
		}
	}
	return ""
}

func (p Part) device() string {
	if p.Test.Device.Name != "" {
		return p.Test.Device.Name
	}
	for _, r := range p.Rows {
		if r.Device.Name != "" {
			return r.Device.Name
		}
	}
	return known(p.GPU)
}

func known(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}

func escape(s string) string { return strings.ReplaceAll(s, "|", "/") }

func writeRow(s *strings.Builder, r race.Row, t race.SelfTest, mark string) {
	if r.Left != "" {
		fmt.Fprintf(s, "| %s%s | | not run: %s | | | | |\n", mark, r.Name, escape(r.Left))
	}
	for i, e := range r.Entries {
		name := ""
		if i == 0 {
			name = mark + r.Name
		}
		fmt.Fprintf(s, "| %s | %s | %s |\n", name, e.Name, strings.Join(cells(r, e, i, t), " | "))
	}
}

// cells are time, rate, share of the ceiling, ratio and error.
func cells(r race.Row, e race.Entry, i int, t race.SelfTest) []string {
	c := make([]string, 5)
	if e.Usual > 0 {
		c[4] = fmt.Sprintf("%.1e", e.Usual)
	}
	switch {
	case e.Wrong != "":
		c[0] = "wrong: " + escape(e.Wrong)
		return c
	case e.Stats.N == 0:
		c[0] = "not measured: " + escape(e.Not)
		return c
	}
	c[0] = timed(e)
	b := r.Bound(t)
	c[1], c[2] = b.Rate(r, e.Stats.Median), b.Of(e.Stats.Median)
	if ratio := r.Ratio(e); i > 0 && ratio.N > 0 {
		c[3] = fmt.Sprintf("**%.2f** (%.2f to %.2f)", ratio.Median, ratio.Q1, ratio.Q3)
	}
	return c
}

// timed is a time with any remarks about it.
func timed(e race.Entry) string {
	text := span(e.Stats)
	if not := e.NotHidden(); not != "" {
		text += "; " + not
	}
	if e.Held != "" {
		text += "; held for review: " + escape(e.Held)
	}
	return text
}

// span is a time with its quartiles, and outliers where there are any.
func span(s timing.Stats) string {
	text := fmt.Sprintf("%s (%s to %s)", short(s.Median), short(s.Q1), short(s.Q3))
	if s.Outliers > 0 {
		text += fmt.Sprintf(", %d of %d far off, to %s", s.Outliers, s.N, short(s.Most))
	}
	return text
}

// short is a time with three or four digits.
func short(ns float64) string {
	switch {
	case ns >= 1e9:
		return fmt.Sprintf("%.3f s", ns/1e9)
	case ns >= 1e8:
		return fmt.Sprintf("%.0f ms", ns/1e6)
	case ns >= 1e6:
		return fmt.Sprintf("%.2f ms", ns/1e6)
	}
	return fmt.Sprintf("%.1f µs", ns/1e3)
}

// Now is a date for a part: to the second, and the same everywhere.
func Now() time.Time { return time.Now().UTC().Truncate(time.Second) }
