package synthetic

import (
	"fmt"
	"path/filepath"
	"slices"

	"flashlab/grader/class/intake"
	"flashlab/grader/class/record"
	"flashlab/grader/tasks/registry"
)

// Of is what a task of a record came to, in the words of this package.
func Of(r *record.Record, task registry.Name) Fate {
	if r.Trouble != "" {
		return Unread
	}
	t := r.Task(task)
	switch {
	case t == nil:
		return "not graded"
	case t.Failed != "":
		return Fate("the grader failed: " + t.Failed)
	case len(t.Result.Held) > 0:
		return "held"
	case t.Result.Refused != "":
		return Refused
	case t.Result.Full():
		return Full
	}
	if got, _ := t.Result.Points(); got == 0 {
		return None
	}
	return Less
}

// matches tells whether a verdict is as expected.
func matches(got, want Fate) bool {
	graded := got == Full || got == Less || got == None || got == Refused
	switch want {
	case Any:
		return graded || got == Held
	case Less: // there are mistakes that make everything wrong
		return got == Less || got == None
	case Lost:
		return graded && got != Full
	}
	return got == want
}

// Check compares a batch's records with the class's expected.csv, and says which verdicts differ; n is
// how many were compared.
func Check(dir string, records []*record.Record) (wrong []string, n int, err error) {
	_, rows, err := intake.ReadTable(filepath.Join(dir, "expected.csv"))
	if err != nil {
		return nil, 0, err
	}
	for _, row := range rows {
		n++
		student, want := row.Get("student"), Fate(row.Get("verdict"))
		at := slices.IndexFunc(records, func(r *record.Record) bool { return r.Student.ID == student })
		task := registry.Name(row.Get("task"))
		got := Fate("no record")
		if at >= 0 {
			got = Of(records[at], task)
		}
		if !matches(got, want) {
			wrong = append(wrong, fmt.Sprintf("%s (%s), task %s: %s, expected %s", student, row.Get("kind"), task, got, want))
		}
	}
	return wrong, n, nil
}
