package intake

import (
	"fmt"
	"slices"
	"strings"

	"flashlab/grader/class/record"
)

// A submission is one student's or nobody's. A student chooses the end of a file's name, and could name another
// student there; so a name that can be read in two ways, or that fits two students, is for a person to decide.

// whose is the item with its student: the roster's, if it knows one; otherwise the export's; nobody where that is
// unclear. An entry's whole name in a student's line of the roster decides.
func (f found) whose(roster *Roster) Item {
	i := f.Item
	if s, ok := roster.Find(f.entry); ok {
		i.Student = s
		return i.group(f, roster)
	}
	why := f.unclear
	if why == "" {
		i.Student, why = roster.one(f.Student, f.names)
	}
	if why != "" {
		return i.nobodys(f.entry, why)
	}
	return i.group(f, roster)
}

// group are the roster's students for those who handed it in, too.
func (i Item) group(f found, roster *Roster) Item {
	i.Group = slices.Clone(f.Group)
	for j, names := range f.group {
		s, why := roster.one(f.Group[j], names)
		if why != "" {
			return i.nobodys(f.entry, why)
		}
		i.Group[j] = s
	}
	return i
}

// nobodys goes by the entry's own name, which is no student's, and says what a person does about it.
func (i Item) nobodys(entry, why string) Item {
	i.Student, i.Group = record.Student{ID: entry}, nil
	i.Trouble = why + ". Nobody has been given it: put its whole name into the right student's line of roster.csv, in any column, and run grader batch again"
	return i
}

// one is the roster's student that all of the names mean, or the export's where it knows none of them.
func (r *Roster) one(s record.Student, names []string) (record.Student, string) {
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
	return s, fmt.Sprintf("it fits two students of the roster, %s and %s", known[0].ID, known[1].ID)
}

// readTwice tells why an entry's name says nothing: Moodle's pattern is in it twice, or Canvas's as well.
func readTwice(name string) string {
	switch marks := moodleMark.FindAllString(name, -1); {
	case len(marks) > 1:
		return fmt.Sprintf("Moodle's pattern is in its name twice (%s), so it could be either participant's", strings.Join(marks, ", "))
	case len(marks) == 1 && canvasName.MatchString(name):
		return "its name could be from Canvas as well as from Moodle, with another number in each"
	}
	return ""
}

// disputed marks the entries of a folder whose number stands beside two names: an export has one name for each.
func disputed(all []found) []found {
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
			all[i].unclear = fmt.Sprintf("the number in its name, %s, stands beside two different names here", strings.TrimPrefix(f.names[0], "moodle:"))
		}
	}
	return all
}
