// Package report shows verdicts: in the terminal, in Results.md, and as JSON.
package report

import (
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"flashlab/grader/grading/verdict"
)

// Bounds on what is shown at length.
const (
	maxCases    = 3
	maxFindings = 3
	maxReason   = 20 // lines
)

// Printer writes verdicts to a terminal, or to a file or pipe.
type Printer struct {
	W        io.Writer
	Terminal bool // colours and a drawn table
	Width    int  // of the terminal, in columns; 0 for as wide as it may get
}

func (p Printer) colour(s string, c ...text.Color) string {
	if !p.Terminal {
		return s
	}
	return text.Colors(c).Sprint(s)
}

// Verdict prints one task's result.
func (p Printer) Verdict(v verdict.Verdict) {
	fmt.Fprintf(p.W, "\n%s\n", p.colour(fmt.Sprintf("Task %s: %s", v.Task, v.Title), text.Bold))
	fmt.Fprintf(p.W, "%s · on %s · seed %d\n", v.Subject, v.Device, v.Seed)
	for _, w := range v.Warnings {
		fmt.Fprintf(p.W, "%s %s\n", p.colour("note:", text.FgYellow), w)
	}
	if v.Refused != "" {
		fmt.Fprintf(p.W, "\n%s\n%s\n", p.colour("The submission was not run:", text.FgRed), indent(limit(v.Refused, 40)))
	} else {
		fmt.Fprintf(p.W, "\n%s\n", p.table(v))
	}
	for _, h := range v.Held {
		fmt.Fprintf(p.W, "\n%s %s: %s\n  %s\n  again: %s\n", p.colour("held", text.FgYellow), h.Check, h.Reason, h.Evidence, h.Reproduce)
	}
	for _, c := range v.Checks {
		p.findings(c) // first: a race may be why a case is wrong
		p.failures(c)
		p.prints(v, c)
	}
	fmt.Fprintf(p.W, "\n%s\n", p.total(v))
}

// table has a row for each part of each check.
func (p Printer) table(v verdict.Verdict) string {
	t := table.NewWriter()
	t.AppendHeader(table.Row{"check", "part", "points", ""})
	var lines []line
	for _, c := range v.Checks {
		for i, part := range c.Parts {
			title := c.Title
			if i > 0 {
				title = ""
			}
			t.AppendRow(table.Row{title, part.Name, p.points(part), note(part)})
			lines = append(lines, line{title, part.Name, p.points(part), note(part)})
		}
	}
	return p.tabled(t, lines)
}

// draw renders a table: with lines in a terminal, without them elsewhere.
func (p Printer) draw(t table.Writer) string {
	if !p.Terminal {
		t.SetStyle(plain())
		return trailing.ReplaceAllString(t.Render(), "")
	}
	style := table.StyleRounded
	style.Format.Header = text.FormatDefault
	t.SetStyle(style)
	return t.Render()
}

var trailing = regexp.MustCompile(`(?m) +$`)

// plain is a table without lines, for files and pipes.
func plain() table.Style {
	s := table.StyleDefault
	s.Format.Header = text.FormatDefault
	s.Options = table.OptionsNoBordersAndSeparators
	return s
}

func (p Printer) points(part verdict.Part) string {
	s := fmt.Sprintf("%s of %s", Points(part.Score), Points(part.Max))
	switch {
	case part.NotMeasured != "":
		return p.colour("– of "+Points(part.Max), text.FgYellow)
	case part.Score >= part.Max-1e-9:
		return p.colour(s, text.FgGreen)
	}
	return p.colour(s, text.FgRed)
}

func note(part verdict.Part) string {
	if part.NotMeasured != "" {
		return part.NotMeasured
	}
	return part.Note
}

// Points writes points with at most three decimals.
func Points(x float64) string {
	s := strings.TrimRight(fmt.Sprintf("%.3f", x), "0")
	return strings.TrimSuffix(s, ".")
}

// total sums up, and says what was left out.
func (p Printer) total(v verdict.Verdict) string {
	got, most := v.Points()
	line := fmt.Sprintf("Task %s: %s of %s points", v.Task, Points(got), Points(most))
	line += left(v)
	colour := text.FgRed
	if v.Full() {
		colour = text.FgGreen
	}
	return p.colour(line, text.Bold, colour)
}

// left says what this run could not measure: " measured here; 3 need a GPU, 0.2 hidden".
func left(v verdict.Verdict) string {
	var gpu, awaiting, hidden, other float64
	for _, c := range v.Checks {
		for _, part := range c.Parts {
			switch {
			case part.NotMeasured == "":
			case part.NotMeasured == verdict.Awaiting:
				awaiting += part.Max
			case part.Withheld:
				hidden += part.Max
			case part.NeedsGPU:
				gpu += part.Max
			default:
				other += part.Max
			}
		}
	}
	var parts []string
	if gpu > 0 {
		need := "need"
		if gpu <= 1 {
			need = "needs"
		}
		parts = append(parts, fmt.Sprintf("%s %s a GPU", Points(gpu), need))
	}
	if awaiting > 0 {
		parts = append(parts, Points(awaiting)+" "+verdict.Awaiting)
	}
	if hidden > 0 {
		parts = append(parts, Points(hidden)+" hidden")
	}
	if other > 0 {
		parts = append(parts, Points(other)+" not measured")
	}
	if len(parts) == 0 {
		return ""
	}
	return " measured here; " + strings.Join(parts, ", ")
}

func indent(s string) string { return "  " + strings.ReplaceAll(s, "\n", "\n  ") }

// limit keeps the first lines of a text.
func limit(s string, lines int) string {
	all := strings.Split(strings.TrimSpace(s), "\n")
	if len(all) <= lines {
		return strings.Join(all, "\n")
	}
	return strings.Join(all[:lines], "\n") + fmt.Sprintf("\n… and %d more lines", len(all)-lines)
}
