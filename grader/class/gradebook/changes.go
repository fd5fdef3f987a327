package gradebook

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"flashlab/internal/harmless"
)

// Names in a batch's folder.
const (
	gradesName  = "grades.json" // the grades that were written last, and all changes
	ChangesName = "changes.csv"
)

// Change is a grade that is another than in the gradebook before.
type Change struct {
	Run     int    // of the gradebook that has it
	When    string // that was written
	Student string
	Check   string // "2/softmax", "2" for what the task came to, "all" for the points
	Before  string // "" where nothing was measured
	After   string
	Why     string `json:",omitempty"`
}

// Changes compares the grades with those that were written to a batch's folder last, and writes both down: the grades
// for the next time, and changes.csv with the changes of all runs. It returns those of this run. The first run has none.
func (c Class) Changes(entries []Entry, out string, now time.Time) ([]Change, error) {
	before, err := readWritten(out)
	if err != nil {
		return nil, err
	}
	after := c.snapshot(entries)
	var fresh []Change
	if before.Run > 0 {
		fresh = compare(before, after)
	}
	after.Run, after.Changes = before.Run, before.Changes
	if before.Run == 0 || len(fresh) > 0 {
		after.Run++
	}
	for i := range fresh {
		fresh[i].Run, fresh[i].When = after.Run, c.When(now)
	}
	harmless.All(&fresh)
	after.Changes = append(after.Changes, fresh...)
	data, err := json.MarshalIndent(after, "", " ")
	if err != nil {
		return nil, err
	}
	if err := put(filepath.Join(out, gradesName), append(data, '\n')); err != nil {
		return nil, err
	}
	return fresh, put(filepath.Join(out, ChangesName), changesCSV(after.Changes))
}

// LastChanges are those of the last run that changed anything; none without one.
func LastChanges(out string) ([]Change, error) {
	w, err := readWritten(out)
	if err != nil || len(w.Changes) == 0 {
		return nil, err
	}
	last := w.Changes[len(w.Changes)-1].Run
	return slices.DeleteFunc(w.Changes, func(c Change) bool { return c.Run != last }), nil
}

func readWritten(out string) (w written, err error) {
	name := filepath.Join(out, gradesName)
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return w, nil
	}
	if err != nil {
		return w, err
	}
	if err := json.Unmarshal(data, &w); err != nil {
		return w, fmt.Errorf("%s is damaged (%w): remove it, and changes are listed from the next gradebook on", name, err)
	}
	if w.Version != writtenVersion {
		return w, fmt.Errorf("%s has version %d, and this grader reads %d: remove it, and changes are listed from the next gradebook on", name, w.Version, writtenVersion)
	}
	return w, nil
}

func changesCSV(all []Change) []byte {
	rows := [][]string{{"run", "when", "student", "check", "before", "after", "why"}}
	for _, c := range all {
		rows = append(rows, []string{strconv.Itoa(c.Run), c.When, c.Student, c.Check, c.Before, c.After, c.Why})
	}
	return harmless.CSV(rows)
}

// compare lists what is different, student by student.
func compare(before, after written) (all []Change) {
	for _, now := range after.Students {
		at := slices.IndexFunc(before.Students, func(s writtenStudent) bool { return s.ID == now.ID })
		was := writtenStudent{ID: now.ID}
		if at >= 0 {
			was = before.Students[at]
		}
		all = append(all, was.changes(now, at < 0)...)
	}
	for _, was := range before.Students {
		if !slices.ContainsFunc(after.Students, func(s writtenStudent) bool { return s.ID == was.ID }) {
			all = append(all, Change{Student: was.ID, Check: "all", Before: cell(was.Points), Why: "no longer in the gradebook"})
		}
	}
	return all
}

// changes are one student's: of each check, of a task where its checks do not tell, and of all points.
func (was writtenStudent) changes(now writtenStudent, joined bool) (all []Change) {
	for _, t := range now.Tasks {
		old := writtenTask{Task: t.Task}
		if at := slices.IndexFunc(was.Tasks, func(o writtenTask) bool { return o.Task == t.Task }); at >= 0 {
			old = was.Tasks[at]
		}
		told := false
		for _, item := range t.Items {
			if old.Whole != t.Whole { // no check has points of its own then
				break
			}
			then := writtenItem{Name: item.Name}
			if at := slices.IndexFunc(old.Items, func(o writtenItem) bool { return o.Name == item.Name }); at >= 0 {
				then = old.Items[at]
			}
			if cell(then.Points) != cell(item.Points) {
				told = true
				all = append(all, Change{Student: now.ID, Check: t.Task + "/" + item.Name, Before: cell(then.Points), After: cell(item.Points), Why: old.why(t, then, item)})
			}
		}
		if cell(old.Final) != cell(t.Final) && (!told || old.lateness() != t.lateness()) {
			all = append(all, Change{Student: now.ID, Check: t.Task, Before: cell(old.Final), After: cell(t.Final), Why: old.whyWhole(t)})
		}
	}
	if cell(was.Points) != cell(now.Points) {
		why := ""
		if joined {
			why = "new in the gradebook"
		}
		all = append(all, Change{Student: now.ID, Check: "all", Before: cell(was.Points), After: cell(now.Points), Why: why})
	}
	return all
}

// why is what made a check's points change, as far as the two gradebooks tell.
func (was writtenTask) why(now writtenTask, then, item writtenItem) string {
	switch {
	case then.Override != item.Override && item.Override != "":
		return item.Override
	case then.Override != item.Override:
		return "an override no longer counts: " + then.Override
	case then.Mark != item.Mark && then.Mark == "":
		return "marked by " + item.Mark
	case item.Mark != "" || then.Mark != "":
		return "manual.csv has other points"
	case was.Receipt != now.Receipt && was.Attempt == 0:
		return "handed in"
	case was.Receipt != now.Receipt:
		return fmt.Sprintf("attempt %d counts now (receipt %s); before, attempt %d (%s)", now.Attempt, now.Receipt, was.Attempt, was.Receipt)
	case item.Held && !then.Held:
		return "held: awaits a person"
	case then.Held && !item.Held:
		return "no longer held"
	case was.Failed && !now.Failed:
		return "graded now; grading had failed before"
	case now.Failed:
		return "grading failed, through no fault of the submission"
	case was.Key == "" && now.Key != "":
		return "graded now"
	case was.Device != now.Device:
		return fmt.Sprintf("graded on %s; before, on %s", now.Device, was.Device)
	case was.Key != now.Key:
		return "graded again"
	case then.Of != item.Of:
		return fmt.Sprintf("the check has other points: of %s, before of %s", Number(item.Of), Number(then.Of))
	}
	return "the rubric or course.toml marks it in another way"
}

// whyWhole is the same for a task as a whole.
func (was writtenTask) whyWhole(now writtenTask) string {
	switch {
	case was.Whole != now.Whole && now.Whole != "":
		return now.Whole
	case was.Whole != now.Whole:
		return "an override no longer counts: " + was.Whole
	case was.Due != now.Due && was.Due != "" && now.Due != "":
		return fmt.Sprintf("due %s; before, %s", now.Due, was.Due)
	case was.lateness() != now.lateness():
		return fmt.Sprintf("%s; before, %s", now.lateness(), was.lateness())
	}
	return ""
}

// lateness in words.
func (was writtenTask) lateness() string {
	switch {
	case was.Days == 0:
		return "not late"
	case was.Slip == 0:
		return days(was.Days) + " late"
	}
	return days(was.Days) + " late, " + slipDays(was.Slip) + " spent"
}

func cell(points *float64) string {
	if points == nil {
		return ""
	}
	return Number(*points)
}
