package gradebook

import (
	"fmt"
	"slices"
	"strings"

	"flashlab/grader/class/record"
)

// strangers marks the entries of ids that the roster does not know, most of them misspelt, and names
// the student nearest to each who handed in nothing.
func (c Class) strangers(entries []Entry) {
	if c.Roster == nil {
		return
	}
	var absent []record.Student
	for _, e := range entries {
		if _, known := c.Roster.Find(e.Student.ID); known && e.Attempts == 0 {
			absent = append(absent, e.Student)
		}
	}
	for i := range entries {
		e := &entries[i]
		if _, known := c.Roster.Find(e.Student.ID); known {
			continue
		}
		e.Unknown = true
		note := "no roster has this id"
		if near, ok := c.nearest(e.Student, absent); ok {
			e.Nearest = &near
			note += fmt.Sprintf("; the nearest that handed in nothing is %s", near.ID)
			if near.Name != "" && near.Name != near.ID {
				note += " (" + near.Name + ")"
			}
		}
		e.Notes = append([]string{note}, e.Notes...)
	}
}

// nearest is the student one of whose names, as the roster has them, takes the fewest changes; none if
// more than half of it had to change.
func (c Class) nearest(stranger record.Student, among []record.Student) (best record.Student, ok bool) {
	least := 0
	for _, s := range among {
		for _, name := range append(c.Roster.Names(s), s.Name) {
			for _, given := range []string{stranger.ID, stranger.Name, stranger.Email} {
				a, b := plain(given), plain(name)
				n := changes(a, b)
				if len(a) == 0 || len(b) == 0 || 2*n > max(len(a), len(b)) {
					continue
				}
				if !ok || n < least {
					best, least, ok = s, n, true
				}
			}
		}
	}
	return best, ok
}

// plain is a name without what differs between exports: case, separators, the order of its words.
func plain(name string) []rune {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return strings.ContainsRune(" _-.,", r) })
	slices.Sort(words)
	return []rune(strings.Join(words, ""))
}

// changes is how many letters have to be put in, taken out, replaced, or swapped with the next.
func changes(a, b []rune) int {
	row := make([][]int, len(a)+1)
	for i := range row {
		row[i] = make([]int, len(b)+1)
		row[i][0] = i
		for j := 1; j <= len(b); j++ {
			if i == 0 {
				row[0][j] = j
				continue
			}
			other := 1
			if a[i-1] == b[j-1] {
				other = 0
			}
			row[i][j] = min(row[i-1][j]+1, row[i][j-1]+1, row[i-1][j-1]+other)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[i][j] = min(row[i][j], row[i-2][j-2]+1)
			}
		}
	}
	return row[len(a)][len(b)]
}
