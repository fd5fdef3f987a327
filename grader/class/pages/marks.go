package pages

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"path/filepath"
	"slices"
	"strings"

	"flashlab/grader/class/gradebook"
	"flashlab/grader/tasks/registry"
	"flashlab/internal/harmless"
)

// Marks is the page in which a person enters marks. It alone has a script, which no stranger's text reaches: the browser
// runs only the one with this hash.
const Marks = "marks.html"

//go:embed marks.js
var script string

// policy is what the browser lets the page do.
func policy() template.HTML {
	sum := sha256.Sum256([]byte(script))
	return template.HTML(`<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-` +
		base64.StdEncoding.EncodeToString(sum[:]) + `'">`)
}

// sheet is what it shows.
type sheet struct {
	Course string
	Items  []sheetItem
}

// sheetItem is something to mark: a question, or all of a task's.
type sheetItem struct {
	ID, Title, Anchor string
	Task              registry.Name
	Of                float64
	Questions         []Question
	Rows              []sheetRow
}

type sheetRow struct {
	Who, ID, Cell       string // Cell is the id as a table has it
	Points, Comment, By string // as they are so far; "" where there is no mark
	Answers             []answered
}

func sheetOf(in Input) sheet {
	s := sheet{Course: in.Class.Course.Title}
	for i, m := range in.Class.Course.Items() {
		item := sheetItem{ID: m.ID, Title: first(m.Title, m.ID), Anchor: fmt.Sprintf("item%d", i), Task: m.Task, Of: m.Points}
		for _, q := range in.Questions[m.Task] {
			if m.Question == 0 || m.Question == q.Number {
				item.Questions = append(item.Questions, q)
			}
		}
		for _, e := range in.Entries {
			if row, ok := sheetRowOf(e, m.ID, item); ok {
				item.Rows = append(item.Rows, row)
			}
		}
		s.Items = append(s.Items, item)
	}
	return s
}

// sheetRowOf is a student's row, if they handed something in or have a mark.
func sheetRowOf(e gradebook.Entry, id string, item sheetItem) (row sheetRow, ok bool) {
	for _, t := range e.Tasks {
		at := slices.IndexFunc(t.Manual, func(m gradebook.Manual) bool { return m.ID == id })
		if at < 0 || e.Attempts == 0 && t.Manual[at].Mark == nil {
			continue
		}
		row = sheetRow{Who: who(e), ID: e.Student.ID, Cell: harmless.Cell(e.Student.ID)}
		if m := t.Manual[at].Mark; m != nil {
			row.Points, row.Comment, row.By = gradebook.Number(m.Points), strings.Join(strings.Fields(m.Comment), " "), m.By
		}
		if t.Record == nil {
			return row, true
		}
		for _, a := range t.Record.Submission.Answers {
			if a.Task == t.Rubric.Name && slices.ContainsFunc(item.Questions, func(q Question) bool { return q.Number == a.Number }) {
				row.Answers = append(row.Answers, answered{Question: Question{Number: a.Number}, Answer: a.Text})
			}
		}
		return row, true
	}
	return row, false
}

func marks(out string, in Input) error {
	return page(filepath.Join(out, Marks), "marks.tmpl", sheetOf(in))
}

// scriptText is the page's script, whole.
func scriptText() template.JS { return template.JS(script) }
