package gradebook

import (
	"bytes"
	"encoding/csv"
	"fmt"
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
func (c Class) Canvas(export string, entries []Entry) (table []byte, notes []string, err error) {
	text, err := os.ReadFile(export)
	if err != nil {
		return nil, nil, err
	}
	r := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff"))))
	r.FieldsPerRecord = -1
	rows, err := intake.ReadCells(r)
	if err != nil || len(rows) == 0 {
		return nil, nil, fmt.Errorf("%s is not an export from Canvas's gradebook: %v", filepath.Base(export), err)
	}
	id := slices.Index(rows[0], "ID")
	if id < 0 || slices.Index(rows[0], "Student") < 0 {
		return nil, nil, fmt.Errorf("%s:1: no column \"Student\" or \"ID\": export it in Canvas's gradebook", filepath.Base(export))
	}
	roster, err := CanvasRoster(export)
	if err != nil {
		return nil, nil, err
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
	for i, row := range rows {
		for len(row) < width {
			row = append(row, "")
		}
		for at := range columns {
			for len(row) <= at {
				row = append(row, "")
			}
		}
		for at, column := range columns {
			switch {
			case i == 0:
				row[at] = column.title
			case strings.HasPrefix(strings.TrimSpace(row[0]), "Points Possible"):
				row[at] = Number(column.of)
			default:
				if s, ok := roster.Find(row[id]); ok {
					if e, ok := grades[s.ID]; ok {
						row[at] = column.cell(e)
					}
				}
			}
		}
		rows[i] = row
	}
	return harmless.CSV(rows), notes, nil
}

// column is one of Canvas's that is filled.
type column struct {
	title string
	of    float64
	cell  func(Entry) string
}

// columns finds those that course.toml names; the total's is added where there is none.
func (c Class) columns(header []string) map[int]column {
	all := map[int]column{}
	next := len(header)
	put := func(name string, of float64, cell func(Entry) string) {
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
			put(name, of, func(e Entry) string {
				for _, one := range e.Tasks {
					if one.Rubric.Name == t.Name {
						return blank(one.Final, one.Blank() || e.Attempts == 0)
					}
				}
				return ""
			})
		}
	}
	name := c.Course.Canvas.Total
	if name == "" {
		name = c.Course.Title
	}
	put(name, whole, func(e Entry) string { return blank(e.Points, e.Blank()) })
	if c.bonus() {
		put(first(c.Course.Canvas.Bonus, name+" bonus"), extra, func(e Entry) string {
			return blank(e.Bonus.Points, e.Bonus.Of == 0 || e.Attempts == 0)
		})
	}
	return all
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
