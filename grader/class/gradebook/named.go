package gradebook

import (
	"fmt"
	"slices"
	"time"

	"flashlab/grader/class/board"
	"flashlab/grader/class/record"
)

// Shown is the name that a student chose for the leaderboard.
type Shown struct {
	Name    string // "" if there is none: they are on no leaderboard
	Refused string // why this one cannot be shown; "" if it can
	Group   bool   // another member of the group handed in, and the table lists the name once, for that member
}

// OnBoard tells whether a line of the leaderboard may be this entry's.
func (e Entry) OnBoard() bool { return e.Shown.Name != "" && e.Shown.Refused == "" && !e.Shown.Group }

// named gives the entries the names that they chose. The last attempt that could be read says which: who hands in
// without a leaderboard.txt is on none any more.
func (c Class) named(entries []Entry, attempts map[string][]*record.Record) {
	var choices []board.Choice
	var class []board.Person
	by := map[string]int{} // choices by who handed in
	for i := range entries {
		e := &entries[i]
		class = append(class, board.Person{Student: e.Student, Also: c.also(e.Student)})
		all := readable(attempts[e.Student.ID])
		if len(all) == 0 || all[len(all)-1].Submission.Leaderboard == "" {
			continue
		}
		last := all[len(all)-1]
		e.Shown.Name = last.Submission.Leaderboard
		owner := c.known(last.Student).ID
		e.Shown.Group = owner != e.Student.ID
		if _, seen := by[owner]; !seen {
			by[owner] = len(choices)
			choices = append(choices, board.Choice{By: c.members(last), Name: e.Shown.Name, At: since(all, e.Shown.Name)})
		}
	}
	why := board.Decide(choices, class, c.Course.Leaderboard.Refuse)
	for i := range entries {
		e := &entries[i]
		if e.Shown.Name == "" {
			continue
		}
		last := readable(attempts[e.Student.ID])
		e.Shown.Refused = why[by[c.known(last[len(last)-1].Student).ID]]
	}
}

// members are all students of an attempt, as the roster has them.
func (c Class) members(r *record.Record) (all []record.Student) {
	for _, s := range r.Members() {
		all = append(all, c.known(s))
	}
	return all
}

// since is when the attempts began to have the name that the last one has; zero if nobody knows.
func since(attempts []*record.Record, name string) (at time.Time) {
	for _, r := range slices.Backward(attempts) {
		if r.Submission.Leaderboard != name {
			break
		}
		at = time.Time{}
		if r.Submitted != nil {
			at = *r.Submitted
		}
	}
	return at
}

// Sentence is what the student reads about it; "" if they chose none.
func (s Shown) Sentence() string {
	switch {
	case s.Name == "":
		return ""
	case s.Refused != "":
		return fmt.Sprintf("You are not on the class's leaderboard: it cannot show the name %q: %s. Write another one into leaderboard.txt, make pack, and hand in again.", s.Name, s.Refused)
	}
	return fmt.Sprintf("You are on the class's leaderboard as %q, in each table where what you handed in counts. To leave it, delete leaderboard.txt and hand in again.", s.Name)
}

// also are the other names by which the roster knows a student.
func (c Class) also(s record.Student) []string {
	if c.Roster == nil {
		return nil
	}
	return c.Roster.Names(s)
}
