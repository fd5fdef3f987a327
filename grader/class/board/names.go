// Package board decides which names a class's leaderboard may show: students choose them, and nobody shows up as
// somebody else.
package board

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"flashlab/grader/class/record"
	"flashlab/grader/grading/handin"
)

// Choice is a name that somebody handed in.
type Choice struct {
	By   []record.Student // who: more than one is a group
	Name string
	At   time.Time // when it was first handed in; zero where nobody knows
}

// Person is everything by which a student is known.
type Person struct {
	Student record.Student
	Also    []string // ids in other systems, e-mail addresses
}

// What is said to a student whose name is refused. None of it tells who the other is.
const (
	anothersID   = "it looks like another student's id"
	anothersName = "it is another student's name"
	chosen       = "somebody else in the class chose it, or one that looks like it, before"
	unwanted     = "your instructor asks for another one"
)

// Decide says for each choice why its name is refused; "" if it is not. Of two that look alike the one that was handed
// in first stays; without times, the first in the order of ids.
func Decide(choices []Choice, class []Person, refused []string) []string {
	why := make([]string, len(choices))
	for i, c := range choices {
		why[i] = c.fault(class, refused)
	}
	order := make([]int, len(choices))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return choices[a].before(choices[b]) })
	taken := map[string]bool{}
	for _, i := range order {
		look := skeleton(choices[i].Name)
		switch {
		case why[i] != "":
		case taken[look]:
			why[i] = chosen
		default:
			taken[look] = true
		}
	}
	return why
}

func (c Choice) before(other Choice) int {
	if c.At.IsZero() != other.At.IsZero() {
		if c.At.IsZero() {
			return 1
		}
		return -1
	}
	return cmp.Or(c.At.Compare(other.At), strings.Compare(c.By[0].ID, other.By[0].ID))
}

// fault is what is wrong with a name by itself, or beside those of the others.
func (c Choice) fault(class []Person, refused []string) string {
	if err := handin.CheckName(c.Name); err != nil {
		return err.Error()
	}
	look := skeleton(c.Name)
	if look == "" {
		return "it has neither a letter nor a digit that tells it from others"
	}
	if slices.ContainsFunc(refused, func(one string) bool { return skeleton(one) == look }) {
		return unwanted
	}
	own := map[string]bool{}
	for _, p := range class {
		if c.by(p) {
			for _, name := range append(p.ids(), p.names()...) {
				own[name] = true
			}
		}
	}
	for _, p := range class {
		if c.by(p) {
			continue
		}
		for _, id := range p.ids() {
			if !own[id] && (look == id || len(id) >= telling && strings.Contains(look, id)) {
				return anothersID
			}
		}
		for _, name := range p.names() {
			if !own[name] && look == name {
				return anothersName
			}
		}
	}
	return ""
}

// telling is how many letters of an id inside a name are no accident.
const telling = 4

// by tells whether a person is one of those who chose.
func (c Choice) by(p Person) bool {
	return slices.ContainsFunc(c.By, func(s record.Student) bool { return s.ID == p.Student.ID })
}

// ids are a person's, as they look; of an e-mail address also what stands before the @.
func (p Person) ids() (all []string) {
	for _, id := range append([]string{p.Student.ID, p.Student.Email}, p.Also...) {
		local, _, _ := strings.Cut(id, "@")
		for _, look := range []string{skeleton(id), skeleton(local)} {
			if len(look) > 1 {
				all = append(all, look)
			}
		}
	}
	return all
}

// names are a person's name as it looks: whole, in either order, and each word of it.
func (p Person) names() (all []string) {
	words := strings.FieldsFunc(p.Student.Name, func(r rune) bool { return strings.ContainsRune(" ,.\t", r) })
	for i, w := range words {
		words[i] = skeleton(w)
		if len(words[i]) > 1 {
			all = append(all, words[i])
		}
	}
	all = append(all, strings.Join(words, ""))
	if n := len(words); n > 1 { // "Lovelace, Ada Byron"
		all = append(all, words[0]+words[n-1], words[n-1]+words[0])
	}
	return slices.DeleteFunc(all, func(s string) bool { return s == "" })
}
