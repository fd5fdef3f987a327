package gradebook

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"flashlab/grader/class/record"
	"flashlab/grader/grading/report"
	"flashlab/internal/harmless"
)

// Write writes what students and the instructor get: students/ID/feedback.md, Results.md and results.json,
// gradebook.csv, and gradebook-canvas.csv and gradebook-moodle.csv if there is something to fill. It
// returns notes on these two for the instructor.
func (c Class) Write(entries []Entry, out, canvas, moodle string) (notes []string, err error) {
	for _, e := range entries {
		if e.Attempts == 0 {
			continue
		}
		dir := filepath.Join(out, "students", record.Safe(e.Student.ID))
		results, sums, err := c.results(e)
		if err != nil {
			return nil, err
		}
		if err := put(filepath.Join(dir, report.ResultsName), []byte(harmless.Text(results))); err != nil {
			return nil, err
		}
		g := c.Gradescope(e)
		g.ExtraData.Totals = sums
		harmless.All(&g)
		data, err := json.MarshalIndent(g, "", "  ")
		if err != nil {
			return nil, err
		}
		if err := put(filepath.Join(dir, "results.json"), append(data, '\n')); err != nil {
			return nil, err
		}
		if err := put(filepath.Join(dir, "feedback.md"), []byte(harmless.Text(c.Feedback(e)))); err != nil {
			return nil, err
		}
	}
	if canvas != "" {
		table, outstanding, more, err := c.Canvas(canvas, entries)
		if err != nil {
			return nil, err
		}
		notes = append(notes, more...)
		if err := put(filepath.Join(out, "gradebook-canvas.csv"), table); err != nil {
			return nil, err
		}
		open := filepath.Join(out, "gradebook-canvas-open.csv")
		if outstanding == nil {
			if err := os.Remove(open); err != nil && !errors.Is(err, fs.ErrNotExist) { // of an earlier gradebook
				return nil, err
			}
		} else if err := put(open, outstanding); err != nil {
			return nil, err
		}
	}
	table, more, err := c.Moodle(moodle, entries)
	if err != nil {
		return nil, err
	}
	notes = append(notes, more...)
	if table != nil {
		if err := put(filepath.Join(out, "gradebook-moodle.csv"), table); err != nil {
			return nil, err
		}
	}
	workbook, err := c.XLSX(entries)
	if err != nil {
		return nil, err
	}
	return notes, errors.Join(put(filepath.Join(out, "gradebook.csv"), c.CSV(entries)), put(filepath.Join(out, "gradebook.xlsx"), workbook))
}

// put writes a file, unless it already has the same text.
func put(name string, data []byte) error {
	if old, err := os.ReadFile(name); err == nil && bytes.Equal(old, data) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return record.Durable(name, data)
}

// text keeps what students wrote, such as file names, from acting as our Markdown or HTML.
func text(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", "|", "/", "\n", " ", "\r", " ", "`", "'", "[", "\\[", "*", "\\*", "_", "\\_").Replace(s)
}
