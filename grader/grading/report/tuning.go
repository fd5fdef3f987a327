package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"flashlab/grader/grading/verdict"
)

// Tuning prints what was tried, the best first: tiles, or parts.
func (p Printer) Tuning(tried []verdict.Tuned, gpu bool) {
	t := table.NewWriter()
	choice, rate := "queries×keys", "TFLOP/s"
	if len(tried) > 0 && tried[0].Parts > 0 {
		choice, rate = "parts", "TB/s"
		if tried[0].Tiles.Keys > 0 {
			choice = "keys, parts"
		}
	}
	if gpu {
		t.AppendHeader(table.Row{choice, "time", rate, ""})
	} else {
		t.AppendHeader(table.Row{choice, "bytes moved", "bank passes", "for a request", ""})
	}
	for _, one := range tried {
		name, speed := one.Tiles.String(), fmt.Sprintf("%.1f", one.TFLOPS)
		if one.Parts > 0 {
			name, speed = fmt.Sprint(one.Parts), fmt.Sprintf("%.2f", one.TBps)
			if one.Tiles.Keys > 0 {
				name = fmt.Sprintf("%d, %d", one.Tiles.Keys, one.Parts)
			}
		}
		switch {
		case one.Wrong != "":
			row := table.Row{name, "–", "–", "–", short(one.Wrong)}
			if gpu {
				row = append(row[:2], row[3:]...)
			}
			t.AppendRow(row)
		case gpu:
			t.AppendRow(table.Row{name, one.Time.Round(100 * time.Nanosecond), speed, ""})
		default:
			t.AppendRow(table.Row{name, fmt.Sprintf("%.2f × the least", one.Ratio),
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
