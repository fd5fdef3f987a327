package gradebook

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"flashlab/grader/class/intake"
	"flashlab/grader/class/record"
	"flashlab/internal/harmless"
)

// Canvas fills the grades into an export of Canvas's gradebook, to be imported there again.
// Students whom Canvas does not have are named in the notes.
//
// Canvas has no place for 'not final', so outstanding is a table of its own: the marks that lack points which a GPU, a
// person or the grader still owes. It is nil if all are final.
func (c Class) Canvas(export string, entries []Entry) (table, outstanding []byte, notes []string, err error) {
	text, err := os.ReadFile(export)
	if err != nil {
		return nil, nil, nil, err
	}
	r := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff"))))
	r.FieldsPerRecord = -1
	rows, err := intake.ReadCells(r)
	if err != nil || len(rows) == 0 {
		return nil, nil, nil, fmt.Errorf("%s is not an export from Canvas's gradebook: %v", filepath.Base(export), err)
	}
	id := slices.Index(rows[0], "ID")
	if id < 0 || slices.Index(rows[0], "Student") < 0 {
		return nil, nil, nil, fmt.Errorf("%s:1: no column \"Student\" or \"ID\": export it in Canvas's gradebook", filepath.Base(export))
	}
	roster, err := CanvasRoster(export)
	if err != nil {
		return nil, nil, nil, err
	}
	width := len(rows[0])
	columns := c.columns(rows[0])
	grades := map[string]Entry{}
	for _, e := range entries {
		s, ok := roster.Find(e.Student.ID, e.Student.Email)
		if !ok && c.Roster != nil {
			s, ok = roster.Find(c.Roster.Names(e.Student)...)
		}
		if !ok {
			notes = append(notes, fmt.Sprintf("%s is not in %s", e.Student.ID, filepath.Base(export)))
			continue
		}
		grades[s.ID] = e
	}
	student := slices.Index(rows[0], "Student")
	open := [][]string{{"Student", "ID", "column", "mark", "outstanding"}}
	for i, row := range rows {
		for len(row) < width {
			row = append(row, "")
		}
		for at := range columns {
			for len(row) <= at {
				row = append(row, "")
			}
		}
		for _, at := range slices.Sorted(maps.Keys(columns)) {
			column := columns[at]
			switch {
			case i == 0:
				row[at] = column.title
			case strings.HasPrefix(strings.TrimSpace(row[0]), "Points Possible"):
				row[at] = Number(column.of)
			default:
				if s, ok := roster.Find(row[id]); ok {
					if e, ok := grades[s.ID]; ok {
						one := column.mark(e)
						row[at] = one.cell
						if one.open != "" && e.Attempts > 0 {
							open = append(open, []string{row[student], row[id], column.title, one.cell, one.open})
						}
					}
				}
			}
		}
		rows[i] = row
	}
	if n := len(open) - 1; n > 0 {
		notes = append(notes, fmt.Sprintf("%s of gradebook-canvas.csv not final: gradebook-canvas-open.csv lists what is outstanding", record.Plural(n, "mark")))
		outstanding = harmless.CSV(open)
	}
	return harmless.CSV(rows), outstanding, notes, nil
}

// column is one of Canvas's that is filled.
type column struct {
	title string
	of    float64
	mark  func(Entry) mark
}

// mark is what a student has in a column.
type mark struct {
	cell string // "" where nothing is measured: no number is better than a zero
	open string // what is still missing: "1 need a GPU; 2 await a person"
}

// columns finds those that course.toml names; the total's is added where there is none.
func (c Class) columns(header []string) map[int]column {
	all := map[int]column{}
	next := len(header)
	put := func(name string, of float64, cell func(Entry) mark) {
		at := slices.IndexFunc(header, func(h string) bool { return h == name || canvasNumber.ReplaceAllString(h, "") == name })
		if at < 0 {
			at, next = next, next+1
			all[at] = column{name, of, cell}
			return
		}
		all[at] = column{header[at], of, cell}
	}
	var whole, extra float64
	for _, t := range c.Rubrics {
		if !c.Course.Graded(t.Name) {
			continue
		}
		of := c.worth(t)
		if t.Name.Bonus() {
			extra += of
		} else {
			whole += of
		}
		if name := c.Course.Canvas.Tasks[fmt.Sprint(t.Name)]; name != "" {
			put(name, of, func(e Entry) mark {
				for _, one := range e.Tasks {
					if one.Rubric.Name == t.Name {
						return mark{blank(one.Final, one.Blank() || e.Attempts == 0), missing(one.GPU, one.Awaiting, one.NotGraded)}
					}
				}
				return mark{}
			})
		}
	}
	name := c.Course.Canvas.Total
	if name == "" {
		name = c.Course.Title
	}
	put(name, whole, func(e Entry) mark { return mark{blank(e.Points, e.Blank()), missing(e.GPU, e.Awaiting, e.NotGraded)} })
	if c.bonus() {
		put(first(c.Course.Canvas.Bonus, name+" bonus"), extra, func(e Entry) mark {
			var gpu, awaiting, notGraded float64
			for _, t := range e.Tasks {
				if t.Rubric.Name.Bonus() {
					gpu, awaiting, notGraded = gpu+t.GPU, awaiting+t.Awaiting, notGraded+t.NotGraded
				}
			}
			return mark{blank(e.Bonus.Points, e.Bonus.Of == 0 || e.Attempts == 0), missing(gpu, awaiting, notGraded)}
		})
	}
	return all
}

// missing says which points a mark lacks; "" if it is final.
func missing(gpu, awaiting, notGraded float64) string {
	var parts []string
	for _, left := range []struct {
		points float64
		words  string
	}{{gpu, "a GPU"}, {awaiting, "a person"}, {notGraded, "grading"}} {
		if left.points > 1e-9 {
			parts = append(parts, fmt.Sprintf("%s of the points await %s", Number(left.points), left.words))
		}
	}
	return strings.Join(parts, "; ")
}

// canvasNumber is what Canvas puts behind an assignment's name.
var canvasNumber = regexp.MustCompile(` \(\d+\)$`)

// CanvasRoster reads an export of Canvas's gradebook as a roster.
func CanvasRoster(export string) (*intake.Roster, error) {
	header, rows, err := intake.ReadTable(export)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(header, "id") || !slices.Contains(header, "student") {
		return nil, fmt.Errorf("%s:1: no column \"Student\" or \"ID\": export it in Canvas's gradebook", filepath.Base(export))
	}
	r := &intake.Roster{}
	for _, row := range rows {
		id := row.Get("id")
		if id == "" { // points possible, posting policy
			continue
		}
		s := record.Student{ID: first(row.Get("sis login id"), row.Get("sis user id"), id), Name: row.Get("student")}
		if err := r.Add(s, id, row.Get("sis user id"), row.Get("sis login id")); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", filepath.Base(export), row.Line, err)
		}
	}
	return r, nil
}
