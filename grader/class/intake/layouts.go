package intake

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"flashlab/grader/class/record"
)

// gradescopeFile is the file that marks a folder as an export of Gradescope.
const gradescopeFile = "submission_metadata.yml"

// submission is one of Gradescope's entries, by the name of its folder.
type submission struct {
	Submitters []struct {
		Name  string `yaml:":name"`
		SID   string `yaml:":sid"`
		Email string `yaml:":email"`
	} `yaml:":submitters"`
	Created string `yaml:":created_at"`
}

// created is when it was handed in; zero if the export does not say. Ruby writes a space before
// the zone.
func (s submission) created() (time.Time, error) {
	if s.Created == "" {
		return time.Time{}, nil
	}
	for _, form := range []string{"2006-01-02 15:04:05 Z07:00", "2006-01-02 15:04:05 -0700", "2006-01-02 15:04:05 MST", time.RFC3339} {
		if t, err := time.Parse(form, s.Created); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("%s: cannot read the time %q", gradescopeFile, s.Created)
}

// gradescope reads an export: a folder for each submission, and a table of their authors.
func gradescope(dir, metadata string) ([]found, error) {
	text, err := os.ReadFile(metadata)
	if err != nil {
		return nil, err
	}
	entries := map[string]submission{}
	if err := yaml.Unmarshal(text, &entries); err != nil {
		return nil, fmt.Errorf("%s: %w", gradescopeFile, err)
	}
	var all []found
	for folder, s := range entries {
		if len(s.Submitters) == 0 || folder != filepath.Base(folder) {
			return nil, fmt.Errorf("%s: %q names nobody as its submitter, or is no folder's name", gradescopeFile, folder)
		}
		f := found{Item: Item{Path: filepath.Join(dir, folder), File: folder}, entry: folder}
		at, err := s.created()
		if err != nil {
			return nil, err
		}
		if !at.IsZero() {
			f.Submitted = &at
		}
		for i, who := range s.Submitters {
			// A name is the student's own choice, and may be another one's id.
			student := record.Student{ID: cmp.Or(who.SID, who.Email, fmt.Sprintf("%s, member %d", folder, i+1)), Name: who.Name, Email: who.Email}
			names := []string{who.SID, who.Email, student.ID}
			if i == 0 {
				f.Student, f.names = student, names
				continue
			}
			f.Group, f.group = append(f.Group, student), append(f.group, names)
		}
		if !exists(f.Path) {
			f.Trouble = "the export lists this submission, but its folder is not there"
		}
		all = append(all, f)
	}
	return all, nil
}

// canvasName is how Canvas names a file of a submission: the student, LATE if it was, the
// numbers of the user and the submission, and the student's own name for the file.
var canvasName = regexp.MustCompile(`^([^_]+)_(LATE_)?(\d+)_(\d+)_(.+)$`)

// resubmitted is what Canvas adds to the names of later attempts: "work-2.zip".
var resubmitted = regexp.MustCompile(`-(\d+)(\.[A-Za-z0-9]+|\.tar\.gz)?$`)

// listed takes each entry of a folder as a submission, named after its student. A folder
// that holds nothing but numbered folders or archives holds that student's attempts.
func listed(dir string) ([]found, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var all []found
	loose := map[string]bool{} // students whose files in Canvas are not an archive
	for _, e := range entries {
		name := e.Name()
		if ignored(name) || e.Type().IsRegular() && !handedIn(name) {
			continue
		}
		f := found{Item: Item{Path: filepath.Join(dir, name), File: name}, entry: name, unclear: ambiguous(name)}
		if f.unclear != "" {
			f.names = []string{name}
			all = append(all, f)
			continue
		}
		if m := moodleName.FindStringSubmatch(name); m != nil {
			if !f.moodle(m, e.Type().IsRegular(), loose) {
				continue
			}
			all = append(all, f)
			continue
		}
		if m := canvasName.FindStringSubmatch(name); m != nil {
			f.names = []string{m[3]}
			f.Student = record.Student{ID: m[3], Name: m[1]}
			f.MarkedLate = m[2] != ""
			if again := resubmitted.FindStringSubmatch(m[5]); again != nil {
				f.number, _ = strconv.Atoi(again[1])
				f.number = min(f.number, 1000) + 1
			}
			if e.Type().IsRegular() && archive(name) == "" {
				if loose[m[3]] {
					continue
				}
				loose[m[3]] = true
				f.Trouble = fmt.Sprintf("%s is no archive: hand in the zip that `make pack` writes", m[5])
			}
			all = append(all, f)
			continue
		}
		id := strings.TrimSuffix(name, archive(name))
		f.Student, f.names = record.Student{ID: id}, []string{id}
		if several := attempts(f); several != nil {
			all = append(all, several...)
			continue
		}
		all = append(all, f)
	}
	return conflicting(all), nil
}

// handedIn tells whether a file in a class's folder may be a submission: tables and notes next to
// the submissions are not.
func handedIn(name string) bool {
	return archive(name) != "" || canvasName.MatchString(name) || moodleName.MatchString(name) || foreign[strings.ToLower(filepath.Ext(name))]
}

// foreign are archives that are refused, with the reason.
var foreign = map[string]bool{".rar": true, ".7z": true, ".xz": true, ".zst": true, ".bz2": true}

// archive is the ending of a name that means an archive; "" if it means none.
func archive(name string) string {
	for _, ending := range []string{".tar.gz", ".tgz", ".tar", ".zip"} {
		if n := len(name) - len(ending); n > 0 && strings.EqualFold(name[n:], ending) {
			return name[n:]
		}
	}
	return ""
}

// attempts are those in a student's folder, if there is nothing else in it.
func attempts(f found) []found {
	entries, err := os.ReadDir(f.Path)
	if err != nil {
		return nil
	}
	var all []found
	for _, e := range entries {
		if ignored(e.Name()) {
			continue
		}
		n, err := strconv.Atoi(strings.TrimSuffix(e.Name(), archive(e.Name())))
		if err != nil || n < 1 || n > 1000 {
			return nil
		}
		one := f
		one.Path, one.File, one.number = filepath.Join(f.Path, e.Name()), filepath.Join(f.File, e.Name()), n
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b found) int { return a.number - b.number })
	return all
}
