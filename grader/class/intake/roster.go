package intake

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"flashlab/grader/class/record"
	"flashlab/internal/harmless"
)

// Roster knows the students of a class by all names that an export may use for them.
// A nil Roster knows nobody: students then keep the names that the export uses.
type Roster struct {
	Students []record.Student // in the file's order
	by       map[string]int
	file     string
}

// ReadRoster reads a table with the columns id, name and email (the first is needed).
// Any other column, such as a number in Canvas or the name of a folder, is another
// name for the student. The column moodle holds the number of Moodle's grading worksheet: 4711, or
// 'Participant 4711'.
func ReadRoster(name string) (*Roster, error) {
	header, rows, err := ReadTable(name)
	if err != nil {
		return nil, err
	}
	r := &Roster{by: map[string]int{}, file: filepath.Base(name)}
	id := slices.Index(header, "id")
	if id < 0 {
		return nil, fmt.Errorf("%s:1: there is no column \"id\"; there are %s", r.file, strings.Join(header, ", "))
	}
	moodle := slices.Index(header, "moodle")
	for _, row := range rows {
		s := record.Student{ID: row.Cell[id], Name: row.Get("name"), Email: row.Get("email")}
		if s.ID == "" {
			return nil, fmt.Errorf("%s:%d: the id is empty", r.file, row.Line)
		}
		names := slices.Clone(row.Cell)
		if moodle >= 0 {
			if cell := names[moodle]; cell != "" && MoodleKey(cell) == "" {
				return nil, fmt.Errorf("%s:%d: moodle %q: want the number that Moodle's grading worksheet has, like 4711", r.file, row.Line, cell)
			}
			names[moodle] = MoodleKey(names[moodle])
		}
		if err := r.Add(s, names...); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", r.file, row.Line, err)
		}
	}
	return r, nil
}

// Add adds a student, with other names that they go by. Names are no aliases: two students may
// share one.
func (r *Roster) Add(s record.Student, aliases ...string) error {
	if r.by == nil {
		r.by = map[string]int{}
	}
	at := len(r.Students)
	for _, a := range append([]string{s.ID, s.Email}, aliases...) {
		key := fold(a)
		if key == "" || key == fold(s.Name) && key != fold(s.ID) {
			continue
		}
		if other, taken := r.by[key]; taken && other != at {
			return fmt.Errorf("%q already stands for %s", a, r.Students[other].ID)
		}
		r.by[key] = at
	}
	r.Students = append(r.Students, s)
	return nil
}

// Find looks a student up by any of their names, the first that is known.
func (r *Roster) Find(names ...string) (record.Student, bool) {
	if r == nil {
		return record.Student{}, false
	}
	for _, n := range names {
		if at, ok := r.by[fold(n)]; ok && n != "" {
			return r.Students[at], true
		}
	}
	return record.Student{}, false
}

// Names are all the names by which a student is known.
func (r *Roster) Names(s record.Student) (names []string) {
	for name, at := range r.by {
		if r.Students[at].ID == s.ID {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func fold(s string) string { return strings.ToLower(strings.TrimSpace(s)) }

// Row is a line of a table, by its columns' names.
type Row struct {
	Line   int
	Cell   []string
	header []string
}

// Get is the cell in a column; "" if the table has no such column.
func (r Row) Get(column string) string {
	if i := slices.Index(r.header, column); i >= 0 {
		return r.Cell[i]
	}
	return ""
}

// ReadTable reads a CSV file with a line of column names, which come back in lower case.
// Comments begin with #; empty lines are left out.
func ReadTable(name string) (header []string, rows []Row, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	c := csv.NewReader(f)
	c.Comment, c.TrimLeadingSpace, c.FieldsPerRecord = '#', true, -1
	for {
		cells, err := c.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", filepath.Base(name), err)
		}
		line, _ := c.FieldPos(0)
		for i := range cells {
			cells[i] = harmless.Uncell(strings.TrimSpace(strings.TrimPrefix(cells[i], "\ufeff"))) // Excel's mark of UTF-8
		}
		switch {
		case header == nil:
			for _, h := range cells {
				header = append(header, strings.ToLower(h))
			}
		case strings.Join(cells, "") == "":
		case len(cells) != len(header):
			return nil, nil, fmt.Errorf("%s:%d: %d cells, and the first line has %d columns", filepath.Base(name), line, len(cells), len(header))
		default:
			rows = append(rows, Row{line, cells, header})
		}
	}
	if header == nil {
		return nil, nil, fmt.Errorf("%s is empty: its first line names the columns", filepath.Base(name))
	}
	return header, rows, nil
}

// ReadCells reads a table whole, as it was before this grader wrote it.
func ReadCells(r *csv.Reader) ([][]string, error) {
	rows, err := r.ReadAll()
	for _, row := range rows {
		for i := range row {
			row[i] = harmless.Uncell(row[i])
		}
	}
	return rows, err
}
