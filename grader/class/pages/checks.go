package pages

import (
	"fmt"
	"path/filepath"
	"strconv"

	"flashlab/grader/class/gradebook"
	"flashlab/internal/harmless"
)

// Checks is the table of the checks' statistics in a batch's folder, for a spreadsheet: what report.html shows.
const Checks = "checks.csv"

func checksCSV(out string, in Input) error {
	header := []string{"task", "check", "title", "points", "students", "begun", "all points", "mean", "median"}
	for _, p := range parts {
		header = append(header, "mean "+p)
	}
	rows := [][]string{header}
	for at, t := range tasksOf(in) {
		for _, c := range t.Checks {
			points := pointsOf(in.Entries, at, c.ID)
			row := []string{string(c.Task), c.ID, c.Title, gradebook.Number(c.Of), strconv.Itoa(c.Graded), strconv.Itoa(c.Begun), share3(c.Full), average(points), ""}
			if m := quartile(points, 0.5); len(points) > 0 {
				row[8] = gradebook.Number(m)
			}
			for _, name := range parts {
				cell := ""
				for _, p := range c.Parts {
					if p.Name == name {
						cell = share3(p.Mean)
					}
				}
				row = append(row, cell)
			}
			rows = append(rows, row)
		}
	}
	return put(filepath.Join(out, Checks), harmless.CSV(rows))
}

// pointsOf are what students have of a check, where a machine could decide and something was measured.
func pointsOf(entries []gradebook.Entry, at int, id string) (all []float64) {
	for _, e := range entries {
		if find(e.Tasks[at], id) == nil {
			continue
		}
		for _, k := range e.Tasks[at].Checks {
			if k.ID == id && k.Of > 0 {
				all = append(all, k.Points)
			}
		}
	}
	return all
}

func average(all []float64) string {
	if len(all) == 0 {
		return ""
	}
	sum := 0.0
	for _, x := range all {
		sum += x
	}
	return gradebook.Number(sum / float64(len(all)))
}

// share3 is a share in three digits; "" where there is none.
func share3(x float64) string {
	if x < 0 {
		return ""
	}
	return fmt.Sprintf("%.3f", x)
}
