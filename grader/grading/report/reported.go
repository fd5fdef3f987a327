package report

import (
	"strings"

	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/verdict"
)

// emptyReport is what a task's report says before anything was measured.
func emptyReport(t *rubric.Task) string {
	return reported(t, verdict.Verdict{})
}

// reported is what a task reports, in Markdown: a table for each report, or why there is none.
func reported(t *rubric.Task, v verdict.Verdict) string {
	var b strings.Builder
	for i, r := range t.Reports {
		if i > 0 {
			b.WriteString("\n")
		}
		one := verdict.Report{Title: r.Title, Not: "not measured yet"}
		switch {
		case i < len(v.Reports):
			one = v.Reports[i]
		case v.Task != "": // a batch grades, and no more
			one.Not = "not measured in this run"
		}
		b.WriteString("**" + one.Title + "**")
		if one.Not != "" {
			b.WriteString(": " + cell(one.Not))
		}
		b.WriteString("\n")
		if len(one.Rows) > 0 {
			b.WriteString("\n| " + strings.Join(one.Columns, " | ") + " |\n|" + strings.Repeat(" --- |", len(one.Columns)) + "\n")
		}
		for _, row := range one.Rows {
			b.WriteString("|")
			for _, c := range row {
				b.WriteString(" " + cell(c) + " |")
			}
			b.WriteString("\n")
		}
		if one.Text != "" {
			b.WriteString("\n```text\n" + fenced(one.Text) + "\n```\n")
		}
	}
	return b.String()
}

// estimated is an estimate of time in words, and the workload that it is of.
func estimated(e verdict.Estimate) string { return e.Text + ": " + e.Workload }
