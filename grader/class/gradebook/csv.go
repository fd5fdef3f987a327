package gradebook

import (
	"fmt"
	"strconv"
	"strings"

	"flashlab/grader/grading/handin"
	"flashlab/grader/grading/report"
	"flashlab/internal/harmless"
)

// CSV is the gradebook: a line for each student. What was not measured at all is left
// blank: an empty cell is not a zero.
func (c Class) CSV(entries []Entry) []byte { return harmless.CSV(c.rows(entries)) }

// rows are its lines, the header first.
func (c Class) rows(entries []Entry) [][]string {
	header := []string{"id", "name", "email", "attempt", "submitted", "receipt"}
	for _, t := range c.Rubrics {
		if c.Course.Graded(t.Name) {
			header = append(header, fmt.Sprintf("task %s", t.Name), fmt.Sprintf("task %s of", t.Name))
		}
	}
	header = append(header, "points", "of", "need a GPU", "await a person", "not graded")
	if c.bonus() {
		header = append(header, "bonus", "bonus of")
	}
	if c.Course.Late.Slip > 0 {
		header = append(header, "slip days spent", "slip days left")
	}
	header = append(header, "notes")
	rows := [][]string{header}
	for _, e := range entries {
		attempt, submitted, hash := e.lastCounting(c)
		row := []string{e.Student.ID, e.Student.Name, e.Student.Email, attempt, submitted, hash}
		for _, t := range e.Tasks {
			row = append(row, blank(t.Final, t.Blank() || e.Attempts == 0), positive(t.Of))
		}
		row = append(row, blank(e.Points, e.Blank()), positive(e.Of), positive(e.GPU), positive(e.Awaiting), positive(e.NotGraded))
		if c.bonus() {
			row = append(row, blank(e.Bonus.Points, e.Bonus.Of == 0 || e.Attempts == 0), positive(e.Bonus.Of))
		}
		if c.Course.Late.Slip > 0 {
			row = append(row, strconv.Itoa(e.Slip), strconv.Itoa(e.SlipOf-e.Slip))
		}
		row = append(row, strings.Join(e.Notes, "; "))
		rows = append(rows, row)
	}
	return rows
}

// lastCounting describes the latest attempt that any task counts.
func (e Entry) lastCounting(c Class) (attempt, submitted, hash string) {
	last := e.record()
	if last == nil {
		return "", "", ""
	}
	if last.Submitted != nil {
		submitted = c.When(*last.Submitted)
	}
	return strconv.Itoa(last.Attempt), submitted, handin.Receipt(last.Submission.SHA256).Short()
}

func first(words ...string) string {
	for _, w := range words {
		if w != "" {
			return w
		}
	}
	return ""
}

// Number writes points as the reports do: so no two of a student's papers can differ in a digit.
func Number(x float64) string { return report.Points(x) }

func blank(x float64, none bool) string {
	if none {
		return ""
	}
	return Number(x)
}

func positive(x float64) string { return blank(x, x == 0) }
