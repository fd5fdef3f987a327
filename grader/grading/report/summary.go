package report

import (
	"fmt"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"flashlab/grader/grading/verdict"
)

// Summary adds up a run of several tasks.
func (p Printer) Summary(verdicts []verdict.Verdict) {
	if len(verdicts) < 2 {
		return
	}
	t := table.NewWriter()
	t.AppendHeader(table.Row{"task", "", "points", ""})
	var lines []line
	var all verdict.Verdict
	full := true
	for _, v := range verdicts {
		got, most := v.Points()
		colour := text.FgRed
		note := ""
		switch {
		case v.Refused != "":
			note = "was not run"
		case v.Full():
			colour = text.FgGreen
		}
		full = full && v.Full()
		points := p.colour(fmt.Sprintf("%s of %s", Points(got), Points(most)), colour)
		t.AppendRow(table.Row{fmt.Sprint(v.Task), v.Title, points, note})
		lines = append(lines, line{fmt.Sprintf("%s: %s", v.Task, v.Title), "", points, note})
		all.Checks = append(all.Checks, v.Checks...)
	}
	got, most := all.Points()
	sum := fmt.Sprintf("All tasks: %s of %s points%s", Points(got), Points(most), left(all))
	colour := text.FgRed
	if full {
		colour = text.FgGreen
	}
	fmt.Fprintf(p.W, "\n%s\n\n%s\n", p.tabled(t, lines), p.colour(sum, text.Bold, colour))
}
