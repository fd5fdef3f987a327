// Package gradebook makes grades from records: it applies deadlines, extensions, late days,
// the attempt that counts, overrides and the points that a person gave. It measures nothing
// and may be run any number of times; equal records and tables give equal bytes.
package gradebook

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"flashlab/grader/class/course"
	"flashlab/grader/class/intake"
	"flashlab/grader/class/record"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/tasks/registry"
)

// Tables are what an instructor keeps next to course.toml. All of them are optional.
type Tables struct {
	Extensions []Extension // extensions.csv
	Overrides  []Override  // overrides.csv
	Marks      []Mark      // manual.csv
	Times      []Time      // times.csv
	Answers    []Answer    // regrades.csv
	Moodle     Worksheet   // the times of Moodle's grading worksheet
	Unread     []string    // what of these could not be used, and why
	// Accepted remembers for which attempts overrides without a receipt were given. Nil remembers nothing.
	Accepted map[string]string
}

// place is a row of a table.
type place struct {
	file string
	line int
}

func (p place) Where() string { return fmt.Sprintf("%s:%d", p.file, p.line) }

// Extension moves a deadline for one student: student, task, until, reason, by. An empty task
// means all.
type Extension struct {
	Student string
	Task    registry.Name // "" for all
	Until   time.Time
	Reason  string
	By      string
	place
}

// Override gives a check of one attempt its points, whatever was measured: student, check, points, reason, by, public,
// receipt. It decides on a check that is held, too.
type Override struct {
	Student string
	Task    registry.Name
	Check   string // "" is the whole task
	Points  float64
	Reason  string // for instructors
	By      string
	Public  string // what the student reads; "" for the points alone
	Receipt string // of the attempt that it was given for; "" where the row does not say
	place
}

// note says what was decided.
func (o Override) note(what string) Note {
	n := Note{Instructor: fmt.Sprintf("%sset to %s by %s: %s", what, Number(o.Points), o.By, o.Reason), Student: fmt.Sprintf("%sset to %s by a person", what, Number(o.Points))}
	if o.Public != "" {
		n.Student += ": " + o.Public
	}
	return n
}

// Mark is what a person gave for a [[manual]] item of course.toml: student, item, points,
// comment, by.
type Mark struct {
	Student string
	Item    string
	Points  float64
	Comment string
	By      string
	place
}

// Time says when an attempt was handed in, where the export does not: student, attempt,
// submitted.
type Time struct {
	Student string
	Attempt int
	At      time.Time
	place
}

// of is the attempt that it is of, if there is one.
func (one Time) of(attempts []*record.Record) (*record.Record, bool) {
	i := slices.IndexFunc(attempts, func(r *record.Record) bool { return r.Attempt == one.Attempt })
	if i < 0 {
		return nil, false
	}
	return attempts[i], true
}

// ReadTables reads the tables in a folder, for tasks with these rubrics. Students are named as the roster knows them.
func ReadTables(dir string, c *course.Course, roster *intake.Roster, rubrics []*rubric.Task) (t Tables, err error) {
	read := func(name string, columns string, add func(r row) error) {
		if err == nil {
			err = table(filepath.Join(dir, name), columns, roster, add)
		}
	}
	read("extensions.csv", "student,until", func(r row) error {
		e := Extension{Student: r.student, Reason: r.Get("reason"), By: r.Get("by"), place: r.place}
		if s := r.Get("task"); s != "" {
			if e.Task, _, err = check(s); err != nil {
				return err
			}
		}
		if e.Until, err = c.When("until", r.Get("until")); err != nil {
			return err
		}
		if e.Until.IsZero() {
			return errors.New("until is empty: want a time like 2026-12-01 23:59")
		}
		t.Extensions = append(t.Extensions, e)
		return nil
	})
	read("overrides.csv", "student,check,points,reason,by", func(r row) (err error) {
		o := Override{Student: r.student, Reason: r.Get("reason"), By: r.Get("by"), Public: r.Get("public"), place: r.place}
		if o.Reason == "" || o.By == "" {
			return errors.New("reason or by is empty: an override says why, and by whom")
		}
		if o.Task, o.Check, err = check(r.Get("check")); err != nil {
			return err
		}
		if o.Receipt, err = receipt(r.Get("receipt")); err != nil {
			return err
		}
		if o.Points, err = number(r.Get("points")); err != nil {
			return err
		}
		most, err := Class{Course: c, Rubrics: rubrics}.worthOf(o)
		if err == nil && o.Points > most+1e-9 {
			err = fmt.Errorf("%s points are more than %s is worth, %s", Number(o.Points), o.what(), Number(most))
		}
		t.Overrides = append(t.Overrides, o)
		return err
	})
	read("manual.csv", "student,item,points", func(r row) (err error) {
		m := Mark{Student: r.student, Item: r.Get("item"), Comment: r.Get("comment"), By: r.Get("by"), place: r.place}
		items := c.Items()
		i := slices.IndexFunc(items, func(one course.Item) bool { return one.ID == m.Item })
		if i < 0 {
			return fmt.Errorf("item %q is not a [[manual]] item of course.toml, nor one of their questions, as questions/2", m.Item)
		}
		if r.Get("points") == "" {
			return nil // not marked yet
		}
		if m.Points, err = number(r.Get("points")); err == nil && m.Points > items[i].Points {
			err = fmt.Errorf("%v points, and %s has %v", m.Points, m.Item, items[i].Points)
		}
		t.Marks = append(t.Marks, m)
		return err
	})
	read("times.csv", "student,attempt,submitted", func(r row) (err error) {
		one := Time{Student: r.student, place: r.place}
		if one.Attempt, err = strconv.Atoi(r.Get("attempt")); err != nil || one.Attempt < 1 {
			return fmt.Errorf("attempt %q: want 1 or more", r.Get("attempt"))
		}
		if one.At, err = c.When("submitted", r.Get("submitted")); err == nil && one.At.IsZero() {
			return errors.New("submitted is empty: want a time like 2026-12-01 23:59, or no row")
		}
		t.Times = append(t.Times, one)
		return err
	})
	read("regrades.csv", "student,request,answer,by", func(r row) error {
		a := Answer{Request: strings.ToLower(r.Get("request")), Text: r.Get("answer"), By: r.Get("by"), place: r.place}
		if a.Text == "" {
			return nil // not answered yet
		}
		t.Answers = append(t.Answers, a)
		return nil
	})
	return t, err
}

// row is a line of a table, with its student.
type row struct {
	intake.Row
	place
	student string
}

// table reads one, if it is there. Errors name its line.
func table(name, columns string, roster *intake.Roster, add func(row) error) error {
	header, rows, err := intake.ReadTable(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, want := range strings.Split(columns, ",") {
		if !slices.Contains(header, want) {
			return fmt.Errorf("%s:1: there is no column %q; want at least %s", filepath.Base(name), want, columns)
		}
	}
	for _, r := range rows {
		one := row{r, place{filepath.Base(name), r.Line}, r.Get("student")}
		if s, ok := roster.Find(one.student); ok {
			one.student = s.ID
		} else if roster != nil || one.student == "" {
			return fmt.Errorf("%s:%d: the roster has no student %q", filepath.Base(name), r.Line, one.student)
		}
		if err := add(one); err != nil {
			return fmt.Errorf("%s:%d: %w", filepath.Base(name), r.Line, err)
		}
	}
	return nil
}

// check reads "2/softmax", or "2" for the whole task.
func check(s string) (task registry.Name, id string, err error) {
	name, id, _ := strings.Cut(strings.TrimPrefix(s, "task"), "/")
	one, err := registry.All.Find(name)
	if err != nil {
		return "", "", fmt.Errorf("%q: want a check like 2/softmax, or a task like 2: %w", s, err)
	}
	return one.Name, id, nil
}

func number(s string) (float64, error) {
	p, err := strconv.ParseFloat(s, 64)
	if err != nil || !(p >= 0 && p < 1e6) {
		return 0, fmt.Errorf("points %q: want a number from 0", s)
	}
	return p, nil
}

// apply sets the times that the export did not know: Moodle's of the last attempt, and those of times.csv.
func (c Class) apply(attempts map[string][]*record.Record) {
	for student, all := range attempts {
		last := all[len(all)-1]
		if at, ok := c.Tables.Moodle[c.moodleKey(record.Student{ID: student})]; ok && last.Submitted == nil {
			last.Submitted = &at
		}
	}
	for _, one := range c.Tables.Times {
		if r, ok := one.of(attempts[one.Student]); ok {
			at := one.At.UTC()
			r.Submitted = &at
		}
	}
}

// ErrNoRecords says that there is nothing to make grades from.
var ErrNoRecords = fmt.Errorf("there are no records: %w", os.ErrNotExist)
