package report

import (
	"fmt"

	"github.com/jedib0t/go-pretty/v6/text"

	"flashlab/grader/grading/verdict"
)

// Summary adds up a run of several tasks: a line a task.
func (p Printer) Summary(verdicts []verdict.Verdict) {
	if len(verdicts) < 2 {
		return
	}
	var all []row
	var checks []verdict.Check
	full := true
	for _, v := range verdicts {
		got, most := v.Points()
		r := row{title: fmt.Sprintf("%s  %s", v.Task, v.Title), points: tally{got: got, most: most, held: len(v.Held) > 0}}
		if v.Refused != "" {
			r.says = "was not run"
		}
		full = full && v.Full()
		checks = append(checks, v.Checks...)
		all = append(all, r)
	}
	got, most := verdict.Verdict{Checks: checks}.Points()
	which := "All tasks"
	if verdicts[0].Task.Bonus() { // no run has both kinds
		which = "All bonus tasks"
	}
	sum := fmt.Sprintf("%s: %s of %s points%s", which, Points(got), Points(most), measuredHere(checks))
	colour := text.FgRed
	if full {
		colour = text.FgGreen
	}
	fmt.Fprintf(p.W, "\n%s\n\n%s\n", p.rows(all), p.colour(sum, text.Bold, colour))
}
