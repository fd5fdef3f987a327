// Package intake finds a class's submissions in a folder, as Gradescope, Canvas or a person
// left it, and reads from each the files that a student may hand in. If a submission is
// broken, huge or hostile, only that submission is affected, with an explanation for its
// author. Nothing is ever written under a name from an archive, and all reading is bounded.
package intake

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"flashlab/grader/class/record"
)

// Item is one attempt that was found.
type Item struct {
	Student    record.Student
	Group      []record.Student
	Attempt    int
	Submitted  *time.Time
	MarkedLate bool
	Path       string // of the folder or archive
	File       string // the same, below the submissions' folder
	Trouble    string // why there is nothing to read
	number     int    // the attempt as the file's name has it; 0 if it has none
}

// found is an item before its student is known.
type found struct {
	Item
	entry   string   // its name in the submissions' folder
	names   []string // by which a roster may know the student
	group   [][]string
	unclear string // why its name does not tell the student
}

// Find lists the submissions in dir, sorted by student and attempt.
func Find(dir string, roster *Roster) ([]Item, error) {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, fmt.Errorf("%s: there is no such folder: give the folder that holds the submissions", dir)
	case err != nil:
		return nil, err
	case !info.IsDir():
		return nil, fmt.Errorf("%s is no folder: unpack the export, and give the folder that holds the submissions", dir)
	}
	var all []found
	if metadata := filepath.Join(dir, gradescopeFile); exists(metadata) {
		all, err = gradescope(dir, metadata)
	} else {
		all, err = listed(dir)
	}
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s holds no submission: want folders, .zip, .tar or .tar.gz files, or an export of Gradescope or Canvas", dir)
	}
	items := make([]Item, len(all))
	for i, f := range all {
		items[i] = f.owned(roster)
	}
	return number(items), nil
}

// number gives each student's attempts their numbers: those in their names, or else
// in order of time and name.
func number(items []Item) []Item {
	slices.SortFunc(items, func(a, b Item) int {
		switch c := strings.Compare(a.Student.ID, b.Student.ID); {
		case c != 0:
			return c
		case a.number != b.number:
			return a.number - b.number
		case a.Submitted != nil && b.Submitted != nil && !a.Submitted.Equal(*b.Submitted):
			return a.Submitted.Compare(*b.Submitted)
		}
		return strings.Compare(a.File, b.File)
	})
	for i := range items {
		next := 1
		if i > 0 && items[i-1].Student.ID == items[i].Student.ID {
			next = items[i-1].Attempt + 1
		}
		items[i].Attempt = max(next, items[i].number)
	}
	return items
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// ignored are entries that no student made.
func ignored(name string) bool {
	return strings.HasPrefix(name, ".") || name == "__MACOSX" || name == "Thumbs.db"
}
