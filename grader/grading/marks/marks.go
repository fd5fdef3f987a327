// Package marks turns what was measured of a check into points, by a rubric. It measures nothing and
// links nothing that does: so points can be made anew from a record, by today's rubric.
package marks

import (
	"fmt"
	"math"
	"slices"

	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/verdict"
)

// Part is a part of a check, and what it is worth.
type Part struct {
	Name string
	Most float64
}

// Parts are a check's, without those that are worth nothing.
func Parts(t *rubric.Task, rc rubric.Check) []Part {
	p := t.Parts(rc)
	all := []Part{{"correctness", p.Correctness}, {verdict.Hidden, p.Hidden}, {"safety", p.Safety}, {"traffic", p.Traffic}, {verdict.BankPart, p.Banks}, {"speed", p.Speed}}
	return slices.DeleteFunc(all, func(p Part) bool { return p.Most == 0 })
}

// Cents leaves hundredths of a point, never rounded up: so what is shown adds up, and nothing looks
// full that is not.
func Cents(x float64) float64 { return math.Floor(100*x+1e-6) / 100 }

// Along is the position of a ratio on a curve: 1 at Full or less, 0 at None or more.
func Along(c rubric.Curve, ratio float64) float64 {
	switch {
	case math.IsNaN(ratio) || ratio >= c.None:
		return 0
	case ratio <= c.Full:
		return 1
	}
	return math.Log(c.None/ratio) / math.Log(c.None/c.Full)
}

// Rising is the position of a ratio of speeds on a curve: 0 at None or less, 1 at Full or
// more.
func Rising(c rubric.Curve, ratio float64) float64 {
	if !(ratio > 0) {
		return 0
	}
	return Along(rubric.Curve{Full: 1 / c.Full, None: 1 / c.None}, 1/ratio)
}

// Correctness marks the cases that a student sees, or the hidden ones.
func Correctness(p *verdict.Part, cases []verdict.Outcome, hidden bool) {
	var passed, all float64
	n, of, uncounted := 0, 0, 0
	beside := OrdinaryRight(cases)
	for _, k := range cases {
		counts := k.Passed
		if k.Passed && k.Refused {
			if counts = beside > 0; counts {
				beside--
			}
		}
		if k.Hidden != hidden {
			continue
		}
		of++
		all += k.Weight
		switch {
		case counts:
			passed += k.Weight
			n++
			if k.Bound > 0 {
				p.Error = max(p.Error, k.Error/k.Bound)
			}
		case k.Passed:
			uncounted++
		}
	}
	if all > 0 {
		p.Score = p.Max * passed / all
	}
	noun := "case"
	if hidden {
		noun = "hidden case"
	}
	p.Note = fmt.Sprintf("%d of %s right", n, Plural(of, noun))
	if uncounted > 0 {
		p.Note += "; refusals count only beside ordinary cases that are right"
	}
}

// OrdinaryRight is how many cases are right that want a result. So many refused ones count:
// an error is no answer to a task, only to a case that is wrong on purpose.
func OrdinaryRight(cases []verdict.Outcome) int {
	n := 0
	for _, k := range cases {
		if k.Passed && !k.Refused {
			n++
		}
	}
	return n
}

// Traffic marks the ratios of the cases that count, as the device saw them that counts bytes. A wrong
// case earns nothing by moving little.
func Traffic(p *verdict.Part, curve rubric.Curve, cases []verdict.Outcome, against string) {
	var sum, all, worst float64
	wrong, spilled := 0, uint64(0)
	name := ""
	for _, c := range cases {
		if !c.Traffic {
			continue
		}
		all += c.Weight
		if !c.Passed {
			wrong++
			continue
		}
		sum += c.Weight * Along(curve, c.Ratio())
		spilled = max(spilled, c.Spilled)
		if c.Ratio() > worst {
			worst, name = c.Ratio(), c.Name
		}
	}
	if all == 0 {
		p.NotMeasured = "not measured: no case that ran counts for it"
		return
	}
	p.Score = p.Max * sum / all
	switch {
	case worst == 0:
		p.Note = "no case that counts is right"
	case wrong > 0:
		p.Note = fmt.Sprintf("%s wrong; %.2f × %s (%s)", Plural(wrong, "case"), worst, against, name)
	default:
		p.Note = fmt.Sprintf("moved %.2f × %s (%s)", worst, against, name)
	}
	if spilled > 0 {
		p.Note += fmt.Sprintf("; local arrays hold %d bytes more than registers can, and these count", spilled)
	}
}

// Banks marks the passes of shared memory's banks: one a request, in every case that counts, or nothing.
func Banks(p *verdict.Part, cases []verdict.Outcome) {
	worst, name := 0.0, ""
	for _, c := range cases {
		switch {
		case !c.Traffic:
			continue
		case !c.Passed:
			p.Note = c.Name + " comes first: it is wrong"
			return
		case c.Counted == nil || c.Counted.Requests == 0:
			p.Note = "shared memory is not used (" + c.Name + ")"
			return
		}
		if each := float64(c.Counted.Passes) / float64(c.Counted.Requests); each > worst {
			worst, name = each, c.Name
		}
	}
	if p.Note = fmt.Sprintf("%.2f passes of shared memory's banks a request, 1 would do (%s)", worst, name); worst == 1 {
		p.Note, p.Score = fmt.Sprintf("a pass of shared memory's banks a request (%s)", name), p.Max
	}
}

// Plural writes a number with its noun.
func Plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
