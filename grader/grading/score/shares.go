// Package score turns what was measured into points, and says why.
package score

import (
	"fmt"
	"math"

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
		for _, share := range shares(t, rc) {
			part := verdict.Part{Name: share.name, Max: rc.Points * share.of, Note: "nothing ran"}
			switch {
			case share.name == "speed":
				part.NotMeasured = "not measured: nothing ran"
			case share.name == verdict.Hidden && rc.Withheld > 0:
				part.NotMeasured, part.Withheld = withheld(rc), true
			}
			if share.of > 0 {
				c.Parts = append(c.Parts, part)
			}
		}
		v.Checks = append(v.Checks, c)
	}
	return v
}

type share struct {
	name string
	of   float64
}

func shares(t *rubric.Task, rc rubric.Check) []share {
	s, hidden := t.Split(rc), rc.HiddenShare()
	return []share{{"correctness", s.Correctness * (1 - hidden)}, {verdict.Hidden, s.Correctness * hidden},
		{"safety", s.Safety}, {"traffic", s.Traffic}, {"speed", s.Speed}}
}

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
