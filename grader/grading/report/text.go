// Package report shows verdicts: in the terminal, in Results.md, and as JSON.
package report

import (
	"fmt"
	"io"
	"slices"
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
	Terminal bool // colours
	Width    int  // of the terminal, in columns; 0 for as wide as it may get
	Details  bool // every part of every check, not only those that lost points
}

func (p Printer) colour(s string, c ...text.Color) string {
	if !p.Terminal {
		return s
	}
	return text.Colors(c).Sprint(s)
}

// Verdict prints one task's result: a line a check, and at length only what went wrong.
func (p Printer) Verdict(v verdict.Verdict) {
	fmt.Fprintf(p.W, "\n%s\n", p.colour(fmt.Sprintf("Task %s: %s", v.Task, v.Title), text.Bold))
	fmt.Fprintf(p.W, "%s · on %s · seed %d\n", v.Subject, v.Device, v.Seed)
	for _, w := range v.Warnings {
		fmt.Fprintf(p.W, "%s %s\n", p.colour("note:", text.FgYellow), w)
	}
	if v.Refused != "" {
		fmt.Fprintf(p.W, "\n%s\n%s\n", p.colour("The submission was not run:", text.FgRed), indent(limit(v.Refused, 40)))
	} else {
		fmt.Fprintf(p.W, "\n%s\n", p.checks(v))
	}
	for _, h := range v.Held {
		fmt.Fprintf(p.W, "\n%s %s: %s\n  %s\n  again: %s\n", p.colour("held", text.FgYellow), h.Check, h.Reason, h.Evidence, h.Reproduce)
	}
	given := reasons{}
	for _, c := range v.Checks {
		p.findings(c) // first: a race may be why a case is wrong
		if idle(c) == "" {
			p.failures(c, given)
		}
		p.prints(v, c)
	}
	fmt.Fprintf(p.W, "\n%s\n", p.total(v))
}

// checks has a line for each check, and below it the parts that a student should look at.
func (p Printer) checks(v verdict.Verdict) string {
	var all []row
	for _, c := range v.Checks {
		r := row{title: c.Title, points: tallyOf(c)}
		r.points.unscored = unscored(v, c)
		if !c.Optional {
			r.says = strings.Join(beside(c.Parts), ", ")
		}
		if idle := idle(c); idle != "" && !p.Details {
			r.says = idle // its parts say nothing more
		} else {
			for _, one := range c.Parts {
				if p.Details || lost(one) {
					r.parts = append(r.parts, part{one.Name, shareOf(v, c, one), note(one)})
				}
				if e := one.Estimate; e != nil {
					r.parts = append(r.parts, part{"estimate", "no points", estimated(*e)})
				}
				for _, says := range Reasons(c, one) {
					r.parts = append(r.parts, part{"", "", says})
				}
			}
			if says := c.Banks(); says != "" && c.Part(verdict.BankPart) == nil {
				r.parts = append(r.parts, part{"banks", "no points", says})
			}
			if name, counted := c.Busiest(); p.Details && name != "" {
				r.parts = append(r.parts, part{"counted", "no points", fmt.Sprintf("%v (%s)", counted, name)})
			}
		}
		all = append(all, r)
	}
	return p.rows(all)
}

// Reasons are the lines of code that cost a part its points, where they are known: for traffic and banks alone.
func Reasons(c verdict.Check, p verdict.Part) []string {
	switch {
	case !lost(p):
	case p.Name == "traffic":
		return c.Movers()
	case p.Name == verdict.BankPart && c.Banks() != "":
		return []string{c.Banks()}
	}
	return nil
}

// lost tells whether a part is less than it could be, for a reason that its check's line does not give.
func lost(p verdict.Part) bool {
	if p.NotMeasured != "" {
		return !p.NeedsGPU && !p.Withheld && p.NotMeasured != verdict.Awaiting
	}
	return p.Score < p.Max-1e-9
}

// idle says in a few words why nothing of a check ran, if nothing did; else "".
func idle(c verdict.Check) string {
	var class, reason string
	for _, k := range c.Cases {
		if k.Hidden {
			continue
		}
		if k.Class != notImplemented && k.Class != notRun || class != "" && k.Class != class {
			return ""
		}
		class, reason = k.Class, k.Reason
	}
	switch class {
	case notImplemented:
		return stillTheStub
	case notRun:
		reason = strings.TrimPrefix(reason, "not run: ")
		if title, _, waits := strings.Cut(reason, verdict.ComesFirst+":"); waits { // a title may have a colon
			return title + verdict.ComesFirst
		}
		reason, _, _ = strings.Cut(reason, ":")
		return short(reason)
	}
	return ""
}

// Classes of cases that did not come to anything, and what is said of a check that has none else.
const (
	stillTheStub   = "still the stub"
	notImplemented = "not_implemented"
	notRun         = "not_run"
	doesNotCompile = "compile"
)

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

// plain is a table without lines, for files and pipes.
func plain() table.Style {
	s := table.StyleDefault
	s.Format.Header = text.FormatDefault
	s.Options = table.OptionsNoBordersAndSeparators
	return s
}

// share is a part's points: '0.35 of 0.55', or '– of 0.4' where nobody measured them.
func share(p verdict.Part) string {
	if p.NotMeasured != "" {
		return "– of " + Points(p.Max)
	}
	return Points(p.Score) + " of " + Points(p.Max)
}

// unscored tells whether a check has no points: it is done or not.
func unscored(v verdict.Verdict, c verdict.Check) bool { return v.Task.WarmUp() || c.Optional }

// shareOf is nothing where there are no points.
func shareOf(v verdict.Verdict, c verdict.Check, p verdict.Part) string {
	if unscored(v, c) {
		return ""
	}
	return share(p)
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
	line := fmt.Sprintf("Task %s: %s of %s points%s", v.Task, Points(got), Points(most), measuredHere(v.Checks))
	if v.Task.WarmUp() {
		line = fmt.Sprintf("Task %s: %d of %d puzzles done", v.Task, done(v), len(v.Checks))
	}
	if onlyOptional(v) {
		line = fmt.Sprintf("Task %s: %d of %d optional checks done; they have no points", v.Task, done(v), len(v.Checks))
	}
	colour := text.FgRed
	if v.Full() {
		colour = text.FgGreen
	}
	return p.colour(line, text.Bold, colour)
}

// onlyOptional tells whether nothing else was asked for.
func onlyOptional(v verdict.Verdict) bool {
	return len(v.Checks) > 0 && len(verdict.Scored(v.Checks)) == 0
}

// done is how many checks are full.
func done(v verdict.Verdict) (n int) {
	for _, c := range v.Checks {
		if tallyOf(c).full() {
			n++
		}
	}
	return n
}

// measuredHere says what this run could not measure: " measured here; 3 need a GPU, 0.2 hidden".
func measuredHere(checks []verdict.Check) string {
	var parts []verdict.Part
	for _, c := range verdict.Scored(checks) {
		parts = append(parts, c.Parts...)
	}
	out := left(parts)
	if len(out) == 0 {
		return ""
	}
	return " measured here; " + strings.Join(out, ", ")
}

// left are the points that are not measured, by why.
func left(all []verdict.Part) (out []string) {
	var gpu, awaiting, hidden, other float64
	for _, part := range all {
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
	if gpu > 0 {
		need := "need"
		if gpu <= 1 {
			need = "needs"
		}
		out = append(out, fmt.Sprintf("%s %s a GPU", Points(gpu), need))
	}
	if awaiting > 0 {
		out = append(out, Points(awaiting)+" "+verdict.Awaiting)
	}
	if hidden > 0 {
		out = append(out, Points(hidden)+" hidden")
	}
	if other > 0 {
		out = append(out, Points(other)+" not measured")
	}
	return out
}

// beside are the points that a check's line says are not measured; a part that is lost says it itself.
func beside(all []verdict.Part) []string { return left(slices.DeleteFunc(slices.Clone(all), lost)) }

func held(c verdict.Check) bool {
	return slices.ContainsFunc(c.Parts, func(p verdict.Part) bool { return p.NotMeasured == verdict.Awaiting })
}

// limit keeps the first lines of a text.
func limit(s string, lines int) string {
	all := strings.Split(strings.TrimSpace(s), "\n")
	if len(all) <= lines {
		return strings.Join(all, "\n")
	}
	return strings.Join(all[:lines], "\n") + fmt.Sprintf("\n… and %d more lines", len(all)-lines)
}
