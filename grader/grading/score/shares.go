// Package score turns what was measured into points, and says why.
package score

import (
	"fmt"

	"flashlab/grader/grading/marks"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/verdict"
)

// withheld says why a release has no score for them.
func withheld(rc rubric.Check) string {
	verb := "run"
	if rc.Withheld == 1 {
		verb = "runs"
	}
	return fmt.Sprintf("%s %s when you have handed in", marks.Plural(rc.Withheld, "hidden case"), verb)
}

// Refuse is the verdict on a submission that could not run at all.
func Refuse(v verdict.Verdict, t *rubric.Task, why string) verdict.Verdict {
	v.Refused = why
	v.Checks = nil
	for _, rc := range t.Checks {
		c := verdict.Check{ID: rc.ID, Title: rc.Title, Optional: rc.Optional}
		for _, of := range marks.Parts(t, rc) {
			part := verdict.Part{Name: of.Name, Max: of.Most, Note: "nothing ran"}
			switch {
			case of.Name == "speed":
				part.NotMeasured = "not measured: nothing ran"
			case of.Name == verdict.Hidden && rc.Withheld > 0:
				part.NotMeasured, part.Withheld = withheld(rc), true
			}
			c.Parts = append(c.Parts, part)
		}
		v.Checks = append(v.Checks, c)
	}
	return v
}
