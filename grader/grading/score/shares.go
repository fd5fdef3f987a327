// Package score turns what was measured into points, and says why.
package score

import (
	"fmt"
	"math"
	"slices"

	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/verdict"
)

// withheld says why a release has no score for them.
func withheld(rc rubric.Check) string {
	verb := "run"
	if rc.Withheld == 1 {
		verb = "runs"
	}
	return fmt.Sprintf("%s %s when you have handed in", plural(rc.Withheld, "hidden case"), verb)
}

// Refuse is the verdict on a submission that could not run at all.
func Refuse(v verdict.Verdict, t *rubric.Task, why string) verdict.Verdict {
	v.Refused = why
	v.Checks = nil
	for _, rc := range t.Checks {
		c := verdict.Check{ID: rc.ID, Title: rc.Title}
		for _, of := range parts(t, rc) {
			part := verdict.Part{Name: of.name, Max: of.most, Note: "nothing ran"}
			switch {
			case of.name == "speed":
				part.NotMeasured = "not measured: nothing ran"
			case of.name == verdict.Hidden && rc.Withheld > 0:
				part.NotMeasured, part.Withheld = withheld(rc), true
			}
			c.Parts = append(c.Parts, part)
		}
		v.Checks = append(v.Checks, c)
	}
	return v
}

// part is a part of a check, and what it is worth.
type part struct {
	name string
	most float64
}

// parts are a check's, without those that are worth nothing.
func parts(t *rubric.Task, rc rubric.Check) []part {
	p := t.Parts(rc)
	all := []part{{"correctness", p.Correctness}, {verdict.Hidden, p.Hidden}, {"safety", p.Safety}, {"traffic", p.Traffic}, {"speed", p.Speed}}
	return slices.DeleteFunc(all, func(p part) bool { return p.most == 0 })
}

// cents leaves hundredths of a point, never rounded up: so what is shown adds up, and nothing looks
// full that is not.
func cents(x float64) float64 { return math.Floor(100*x+1e-6) / 100 }

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

// plural writes a number with its noun.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
