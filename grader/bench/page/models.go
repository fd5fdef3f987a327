package page

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"flashlab/grader/grading/timing"
)

// latency is one of the two times of a model, with the work that is done in it.
type latency struct {
	name    string
	stats   func([]Times) timing.Stats
	work    func(w Work) float64
	unit    string // of 1e12 of it a second
	ceiling func(p Part) float64
}

// split is how many products of halves a prompt's products in float32 take.
const split = 3

var latencies = []latency{
	{"TTFT", first, func(w Work) float64 { return w.Prompt }, "TFLOP/s", func(p Part) float64 { return p.Test.Tensor.Median / split }},
	{"TBT", each, func(w Work) float64 { return w.Token }, "TB/s", func(p Part) float64 { return cmp.Or(p.Test.Read.Median, p.Test.Copy.Median) }},
}

// models is the table of models that answer.
func (p Part) models(s *strings.Builder, now current) {
	if len(p.Models) == 0 {
		return
	}
	s.WriteString("\nTime to the first token (TTFT) and between tokens (TBT), each token fetched by the host; one process after the other, in turns.\n" +
		p.sameModel() + "\nRates are of what a model has to do at least: a prompt's operations, and a step's weights and cache, read once. × is of the medians,\n" +
		"and of their quartiles: the one of theirs over the far one of ours.\n\n" +
		"| model | | | time | rate | of the bound | × |\n| --- | --- | --- | --- | --- | --- | --- |\n")
	for _, c := range p.Models {
		name := c.Name
		if now.Code != nil {
			name = mark(c.stale(p.Task, now)) + name
		}
		if len(c.Ours) == 0 {
			fmt.Fprintf(s, "| %s | | | not measured: %s | | | |\n", name, escape(c.Not))
			continue
		}
		for _, l := range latencies {
			if l.stats(c.Ours).N == 0 {
				continue
			}
			fmt.Fprintf(s, "| %s | %s | ours | %s | |\n", name, l.name, l.cells(p, c, c.Ours))
			for _, other := range c.beside() {
				fmt.Fprintf(s, "| | | %s | %s |\n", other.Name, l.theirs(p, c, other))
			}
			name = ""
		}
		for _, other := range c.beside() {
			switch {
			case other.Differ != "":
				fmt.Fprintf(s, "| | tokens | %s | wrong: %s | | | |\n", other.Name, escape(other.Differ))
			case other.Tokens > 0:
				fmt.Fprintf(s, "| | tokens | %s | %s | | | |\n", other.Name, other.Agreement.words())
			}
		}
	}
}

// cells are time, rate, and share of the ceiling.
func (l latency) cells(p Part, c Model, times []Times) string {
	t := l.stats(times)
	rate, share := "", ""
	if work := l.work(c.Work); work > 0 && t.Median > 0 {
		perSecond := work / t.Median * 1e9
		rate = fmt.Sprintf("%.2f %s", perSecond/1e12, l.unit)
		if most := l.ceiling(p); most > 0 {
			share = fmt.Sprintf("%.0f %%", 100*perSecond/most)
		}
	}
	return span(t) + " | " + rate + " | " + share
}

// theirs are the same and the ratio.
func (l latency) theirs(p Part, c Model, other Other) string {
	if len(other.Times) == 0 {
		return "not measured: " + escape(other.Not) + " | | |"
	}
	if !l.both(c, other) {
		return "not measured | | |"
	}
	if other.Differ != "" {
		return l.cells(p, c, other.Times) + " | wrong"
	}
	median, least, most := l.ratio(c, other)
	return fmt.Sprintf("%s | **%.2f** (%.2f to %.2f)", l.cells(p, c, other.Times), median, least, most)
}

// both tells whether both programs have taken this time.
func (l latency) both(c Model, other Other) bool {
	return l.stats(c.Ours).N > 0 && l.stats(other.Times).N > 0
}

// ratio is of the medians; the two programs do not run side by side, so there are no pairs.
// Around it: of the quartiles that are next to each other, and of the other two.
func (l latency) ratio(c Model, other Other) (median, least, most float64) {
	ours, theirs := l.stats(c.Ours), l.stats(other.Times)
	return theirs.Median / ours.Median, theirs.Q1 / ours.Q3, theirs.Q3 / ours.Q1
}

// sameModel says what the programs of the models have in common, which was less in earlier documents.
func (p Part) sameModel() string {
	if slices.ContainsFunc(p.Models, func(c Model) bool { return len(c.Theirs) > 0 && c.Agreement == Agreement{} }) {
		return "PyTorch has weights of its own here, so its outputs are not compared."
	}
	return "Both have the same weights and prompts, and take the likeliest token each time: so they have to write the same."
}

// ModelTable is the same for a terminal.
func (p Part) ModelTable() string {
	var s strings.Builder
	p.models(&s, current{})
	return s.String()
}
