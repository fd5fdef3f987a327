package report

import (
	"math"
	"regexp"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"

	"flashlab/grader/grading/verdict"
)

// row is a check or a task, in one line: a mark, a bar, the points, and what else there is to say.
type row struct {
	title  string
	points tally
	says   string // "0.4 needs a GPU"
	parts  []part // below it
}

// part is a line below a row: a share of the points, and why.
type part struct{ name, points, says string }

// barWidth is how many characters a full bar has.
const barWidth = 10

// tally is what was reached of what was measured.
type tally struct {
	got, most float64
	held      bool
	unscored  bool // without points: done or not
}

func (t tally) full() bool { return t.most > 0 && t.got >= t.most-1e-9 && !t.held }

func (t tally) mark() string {
	switch {
	case t.held:
		return "?"
	case t.most == 0:
		return "–"
	case t.full():
		return "✓"
	}
	return "✗"
}

func (t tally) colour() text.Color {
	switch {
	case t.full():
		return text.FgGreen
	case t.held || t.most == 0 || t.got > 0:
		return text.FgYellow
	}
	return text.FgRed
}

// bar fills up with the points. It is full for full points alone, and empty for none alone.
func (t tally) bar() string {
	n := 0
	if t.most > 0 {
		n = int(math.Floor(barWidth*t.got/t.most + 1e-9))
	}
	if n == 0 && t.got > 0 {
		n = 1
	}
	return strings.Repeat("█", n) + strings.Repeat("░", barWidth-n)
}

func (t tally) String() string {
	switch {
	case t.most == 0:
		return "–"
	case t.unscored && t.full():
		return "done"
	case t.unscored:
		return "not yet"
	}
	return Points(t.got) + " of " + Points(t.most)
}

func tallyOf(c verdict.Check) tally {
	t := tally{held: held(c), unscored: c.Optional}
	if c.Optional && idle(c) != "" {
		return t // asked of nobody, and not begun
	}
	for _, p := range c.Parts {
		if p.NotMeasured == "" {
			t.got += p.Score
			t.most += p.Max
		}
	}
	return t
}

var trailing = regexp.MustCompile(`(?m) +$`)

// rows draws them with all columns, without the bars, or, in a narrow terminal, with what is said on
// lines of its own.
func (p Printer) rows(all []row) string {
	for _, drawn := range []string{p.columns(all, true), p.columns(all, false)} {
		if p.Width == 0 || text.LongestLineLen(drawn) <= p.Width {
			return drawn
		}
	}
	var out []string
	for _, r := range all {
		out = append(out, p.hanging(p.colour(r.points.mark(), r.points.colour())+" ", r.title+"  "+r.points.String()))
		if r.says != "" {
			out = append(out, p.wrapped(r.says, "    "))
		}
		for _, below := range r.parts {
			out = append(out, "    "+below.name+" "+below.points)
			if below.says != "" {
				out = append(out, p.wrapped(below.says, "      "))
			}
		}
	}
	return trailing.ReplaceAllString(strings.Join(out, "\n"), "")
}

func (p Printer) columns(all []row, bars bool) string {
	title, points, name, share := 0, 0, 0, 0
	for _, r := range all {
		title, points = max(title, text.StringWidth(r.title)), max(points, text.StringWidth(r.points.String()))
		for _, below := range r.parts {
			name, share = max(name, text.StringWidth(below.name)), max(share, text.StringWidth(below.points))
		}
	}
	var out []string
	for _, r := range all {
		line := " " + p.colour(r.points.mark(), r.points.colour()) + " " + text.Pad(r.title, title+2, ' ')
		if bars {
			line += p.colour(r.points.bar(), r.points.colour()) + "  "
		}
		out = append(out, p.column(line+text.Pad(r.points.String(), points+3, ' '), r.says))
		for _, below := range r.parts {
			out = append(out, p.column("     "+text.Pad(below.name, name+2, ' ')+text.Pad(below.points, share+3, ' '), below.says))
		}
	}
	return trailing.ReplaceAllString(strings.Join(out, "\n"), "")
}

// column puts a text behind what stands before it, and breaks it between words where the terminal ends,
// if there is room for a few.
func (p Printer) column(before, says string) string {
	at := text.StringWidthWithoutEscSequences(before)
	if p.Width == 0 || at+text.StringWidth(says) <= p.Width || p.Width-at < 24 {
		return before + says
	}
	return before + strings.TrimSpace(p.wrapped(says, strings.Repeat(" ", at)))
}

// hanging breaks a text between words, and puts the first words behind a mark.
func (p Printer) hanging(mark, s string) string {
	return mark + strings.TrimSpace(p.wrapped(s, strings.Repeat(" ", text.StringWidthWithoutEscSequences(mark))))
}

// wrapped breaks a text between words, where the terminal ends.
func (p Printer) wrapped(s, indent string) string {
	room := max(10, p.Width-len(indent))
	return indent + strings.ReplaceAll(trailing.ReplaceAllString(text.WrapSoft(s, room), ""), "\n", "\n"+indent)
}

func indent(s string) string { return "  " + strings.ReplaceAll(s, "\n", "\n  ") }
