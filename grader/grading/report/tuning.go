package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"flashlab/grader/grading/verdict"
)

// Tuning prints what was tried, the best first.
func (p Printer) Tuning(tried []verdict.Tuned, gpu bool) {
	t := table.NewWriter()
	if gpu {
		t.AppendHeader(table.Row{"queries×keys", "time", "TFLOP/s", ""})
	} else {
		t.AppendHeader(table.Row{"queries×keys", "bytes moved", "bank passes", "for a request", ""})
	}
	for _, one := range tried {
		switch {
		case one.Wrong != "":
			row := table.Row{one.Tiles, "–", "–", "–", short(one.Wrong)}
			if gpu {
				row = append(row[:2], row[3:]...)
			}
			t.AppendRow(row)
		case gpu:
			t.AppendRow(table.Row{one.Tiles, one.Time.Round(time.Microsecond), fmt.Sprintf("%.1f", one.TFLOPS), ""})
		default:
			t.AppendRow(table.Row{one.Tiles, fmt.Sprintf("%.2f × the least", one.Ratio),
				fmt.Sprintf("%.2f million", float64(one.Passes)/1e6), fmt.Sprintf("%.2f", one.Conflicts), ""})
		}
	}
	fmt.Fprintf(p.W, "\n%s\n", p.draw(t))
}

// short is a message's first line, or the first words of it.
func short(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	if r := []rune(line); len(r) > 90 {
		return string(r[:90]) + "…"
	}
	return line
}
