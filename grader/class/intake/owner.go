package intake

import (
	"fmt"
	"slices"
	"strings"

	"flashlab/grader/class/record"
	"flashlab/internal/harmless"
)

// A submission belongs to one student or to nobody. Students choose the end of a file's name, and could name another
// student there. So a person decides about a name that can be read in two ways, or that matches two students.

// owned is the item with its student: the roster's, if it knows one; otherwise the export's; nobody where that is
// unclear. An entry's full name in a student's line of the roster decides.
func (f found) owned(roster *Roster) Item {
	i := f.Item
	if s, ok := roster.Find(f.entry, harmless.Line(f.entry)); ok { // as the report shows it, too
		i.Student = s
		return i.group(f, roster)
	}
	why := f.unclear
	if why == "" {
		i.Student, why = roster.match(f.Student, f.names)
	}
	if why != "" {
		return i.unassigned(f.entry, why)
	}
	return i.group(f, roster)
}

// group are the roster's students for those who handed it in, too.
func (i Item) group(f found, roster *Roster) Item {
	i.Group = slices.Clone(f.Group)
	for j, names := range f.group {
		s, why := roster.match(f.Group[j], names)
		if why != "" {
			return i.unassigned(f.entry, why)
		}
		i.Group[j] = s
	}
	return i
}

// unassigned goes by the entry's own name, which is no student's, and says what to do about it.
func (i Item) unassigned(entry, why string) Item {
	i.Student, i.Group = record.Student{ID: entry}, nil
	i.Trouble = why + ". It is assigned to nobody: add its full name to the right student's line in roster.csv, in any column, and run grader batch again"
	return i
}

// match is the roster's student whom all of the names mean, or the export's where it knows none of them.
func (r *Roster) match(s record.Student, names []string) (record.Student, string) {
	var known []record.Student
	for _, n := range names {
		if k, ok := r.Find(n); ok && !slices.Contains(known, k) {
			known = append(known, k)
		}
	}
	switch len(known) {
	case 0:
		return s, ""
	case 1:
		return known[0], ""
	}
	return s, fmt.Sprintf("it matches two students of the roster, %s and %s", known[0].ID, known[1].ID)
}

// ambiguous says why an entry's name does not tell its student: Moodle's pattern occurs twice, or Canvas's as well.
func ambiguous(name string) string {
	switch marks := moodleMark.FindAllString(name, -1); {
	case len(marks) > 1:
		return fmt.Sprintf("Moodle's pattern occurs twice in its name (%s), so it may belong to either participant", strings.Join(marks, ", "))
	case len(marks) == 1 && canvasName.MatchString(name):
		return "its name matches Canvas's pattern and Moodle's, with a different number in each"
	}
	return ""
}

// conflicting marks the entries of a folder whose number comes with two names: an export has one name for each.
func conflicting(all []found) []found {
	named, twice := map[string]string{}, map[string]bool{}
	for _, f := range all {
		number, name := f.names[0], fold(f.Student.Name)
		if f.unclear != "" || name == "" {
			continue
		}
		if first, seen := named[number]; seen && first != name {
			twice[number] = true
		}
		named[number] = name
	}
	for i, f := range all {
		if twice[f.names[0]] && f.unclear == "" {
			all[i].unclear = fmt.Sprintf("its number, %s, comes with two different names", strings.TrimPrefix(f.names[0], "moodle:"))
		}
	}
	return all
}
