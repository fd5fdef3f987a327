package gradebook

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"flashlab/grader/class/course"
	"flashlab/grader/class/intake"
	"flashlab/grader/class/record"
	"flashlab/internal/harmless"
)

// Columns of Moodle's grading worksheet that are read or filled.
const (
	moodleID      = "Identifier"
	moodleName    = "Full name"
	moodleEmail   = "Email address"
	moodleGrade   = "Grade"
	moodleMaximum = "Maximum Grade"
	moodleHanded  = "Last modified (submission)"
)

// Moodle fills the grades into a grading worksheet, as Moodle's assignment has it for download, to be
// uploaded there again. Students whom the worksheet does not have are named in the notes. Without a
// worksheet it makes one of the roster's numbers; nil if the roster has none.
func (c Class) Moodle(worksheet string, entries []Entry) (table []byte, notes []string, err error) {
	if worksheet == "" {
		return c.ownWorksheet(entries), nil, nil
	}
	rows, err := readWorksheet(worksheet)
	if err != nil {
		return nil, nil, err
	}
	header := rows[0]
	id, grade, most := slices.Index(header, moodleID), slices.Index(header, moodleGrade), slices.Index(header, moodleMaximum)
	of := 0.0
	for _, t := range c.Rubrics {
		if c.Course.Graded(t.Name) {
			of += c.worth(t)
		}
	}
	at := map[string]int{}
	for i, row := range rows[1:] {
		if key := intake.MoodleKey(row[id]); key != "" {
			at[key] = i + 1
		}
		if most >= 0 && i == 0 {
			if has, err := strconv.ParseFloat(strings.ReplaceAll(row[most], ",", "."), 64); err == nil && Number(has) != Number(of) {
				notes = append(notes, fmt.Sprintf("%s has %s as its maximum grade, and the course is worth %s: set that in Moodle first", filepath.Base(worksheet), Number(has), Number(of)))
			}
		}
	}
	for _, e := range entries {
		row, ok := at[c.moodleKey(e.Student)]
		if !ok {
			notes = append(notes, fmt.Sprintf("%s is not in %s", e.Student.ID, filepath.Base(worksheet)))
			continue
		}
		rows[row][grade] = blank(e.Points, e.Blank())
	}
	return harmless.CSV(rows), notes, nil
}

// moodleKey is a student's number in Moodle, by the roster, or by the folder where no roster knows them.
func (c Class) moodleKey(s record.Student) string {
	if c.Roster != nil {
		for _, name := range c.Roster.Names(s) {
			if strings.HasPrefix(name, "moodle:") {
				return name
			}
		}
	}
	return intake.MoodleKey(s.ID)
}

func (c Class) ownWorksheet(entries []Entry) []byte {
	rows := [][]string{{moodleID, moodleName, moodleEmail, moodleGrade}}
	for _, e := range entries {
		if key, ok := strings.CutPrefix(c.moodleKey(e.Student), "moodle:"); ok && c.Roster != nil && !e.Unknown {
			if _, has := c.Roster.Find("moodle:" + key); has {
				rows = append(rows, []string{"Participant " + key, e.Student.Name, e.Student.Email, blank(e.Points, e.Blank())})
			}
		}
	}
	if len(rows) == 1 {
		return nil
	}
	return harmless.CSV(rows)
}

// readWorksheet reads one whole, for what is not filled goes back as it was.
func readWorksheet(name string) ([][]string, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	r := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff"))))
	rows, err := intake.ReadCells(r)
	if err != nil || len(rows) == 0 {
		return nil, fmt.Errorf("%s is no grading worksheet of Moodle's: %v", filepath.Base(name), err)
	}
	for _, want := range []string{moodleID, moodleGrade} {
		if !slices.Contains(rows[0], want) {
			return nil, fmt.Errorf("%s:1: there is no column %q: download the grading worksheet of the assignment, with Moodle's language set to English", filepath.Base(name), want)
		}
	}
	return rows, nil
}

// MoodleRoster reads a grading worksheet as a roster: students are known by their e-mail addresses, or
// else by their numbers.
func MoodleRoster(worksheet string) (*intake.Roster, error) {
	rows, err := readWorksheet(worksheet)
	if err != nil {
		return nil, err
	}
	get := func(row []string, column string) string {
		if i := slices.Index(rows[0], column); i >= 0 {
			return row[i]
		}
		return ""
	}
	r := &intake.Roster{}
	for i, row := range rows[1:] {
		key := intake.MoodleKey(get(row, moodleID))
		if key == "" {
			return nil, fmt.Errorf("%s:%d: the identifier %q has no number", filepath.Base(worksheet), i+2, get(row, moodleID))
		}
		email := get(row, moodleEmail)
		s := record.Student{ID: first(email, key), Name: get(row, moodleName), Email: email}
		if err := r.Add(s, key); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", filepath.Base(worksheet), i+2, err)
		}
	}
	return r, nil
}

// Worksheet are the times of hand-ins in a grading worksheet, by the students' numbers.
type Worksheet map[string]time.Time

// MoodleTimes reads them. Moodle writes them in the time zone of whoever downloads it; they are read in the course's.
// unread says which could not be read.
func MoodleTimes(worksheet string, c *course.Course) (times Worksheet, unread []string, err error) {
	rows, err := readWorksheet(worksheet)
	if err != nil {
		return nil, nil, err
	}
	id, at := slices.Index(rows[0], moodleID), slices.Index(rows[0], moodleHanded)
	if at < 0 {
		return nil, nil, nil
	}
	times = Worksheet{}
	for i, row := range rows[1:] {
		cell := strings.Join(strings.FieldsFunc(row[at], unicode.IsSpace), " ") // a narrow one stands before PM
		if key := intake.MoodleKey(row[id]); key != "" && cell != "" && cell != "-" {
			if t, ok := moodleTime(cell, c.Location()); ok {
				times[key] = t.UTC()
				continue
			}
			unread = append(unread, fmt.Sprintf("%s:%d: cannot read the time %q: add it to times.csv, or download the worksheet with Moodle's language set to English", filepath.Base(worksheet), i+2, cell))
		}
	}
	return times, unread, nil
}

// moodleTime reads one: 'Tuesday, 1 December 2026, 11:59 PM', or as the United States write it.
func moodleTime(cell string, zone *time.Location) (time.Time, bool) {
	for _, form := range []string{"Monday, 2 January 2006, 3:04 PM", "Monday, January 2, 2006, 3:04 PM", "2 January 2006, 3:04 PM", "Monday, 2 January 2006, 15:04", course.Form, course.Form + ":05"} {
		if t, err := time.ParseInLocation(form, cell, zone); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}
