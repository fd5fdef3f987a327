// Package course reads course.toml, in which an instructor says how a class is
// graded: tasks, deadlines, late days, which attempt counts, the class seed, and
// what students get to see. It is read as strictly as a rubric, because a mistake in it
// affects the whole class. Without the file a course has every task and no deadline.
package course

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"flashlab/grader/tasks/registry"
	"flashlab/internal/cache"
)

// Course is one course.toml.
type Course struct {
	Title       string
	Tasks       []registry.Name // that are graded, in order; none means all but the bonus tasks
	Seed        string          // the class seed; keep it to yourself until grades are out
	Variant     string          // what this year asks for otherwise: "window"; the plain course without it
	Agents      string          // the file beside course.toml that students' AI assistants are told in place of the course's AGENTS.md; "none" for none
	Timezone    string          // of the deadlines: "Europe/Berlin"; UTC without it
	Deadline    string          // of every task without its own: "2026-12-01 23:59"
	Attempt     Attempt         // which one counts: last (the default), best or first
	Late        Late            // what lateness costs
	Task        map[string]One  `toml:"task"` // [task.2]: what differs for one task
	Speed       *Speed          // the curve for speed, in place of the rubrics' own
	Visibility  Visibility      // in Gradescope's results.json
	Canvas      Canvas          // the columns of Canvas's export that are filled
	Manual      []Manual        `toml:"manual"` // what a person marks: manual.csv has the points
	Leaderboard Leaderboard     // names that it does not show
	Limit       string          // wall-clock time for one task of one submission: "15m"

	location *time.Location
	limit    time.Duration
	grace    time.Duration
	due      map[registry.Name]time.Time
}

// NoAgents leaves AGENTS.md out of the release.
const NoAgents = "none"

// Attempt says which of a student's attempts counts, task by task.
type Attempt string

// The attempts that may count.
const (
	Last  Attempt = "last"
	Best  Attempt = "best" // after what lateness costs
	First Attempt = "first"
)

// Late is the late policy: each day begun after the deadline takes Percent of a task's
// points, for at most Days days. After these the task is worth nothing.
type Late struct {
	Days    int
	Percent float64
	Grace   string // "15m": this late is on time
	Slip    int    // days that each student may be late in all, before any of that; the grader spends them
}

// One is what differs for one task.
type One struct {
	Points   float64 // what the task is worth; the rubric's without it: all is scaled
	Deadline string
}

// Speed is a curve over the ratio to the baseline's speed: nothing at None or less, full
// marks at Full or more.
type Speed struct{ None, Full float64 }

// Visibility has Gradescope's words: visible, hidden, after_due_date, after_published.
type Visibility struct {
	Results string // all of a submission's results
	Hidden  string // the parts of checks that hidden cases have; as Results without it
}

// Canvas names columns of Canvas's gradebook export, with or without the number that
// Canvas puts behind: "Attention kernels (4711)".
type Canvas struct {
	Total string
	Bonus string            // of the bonus tasks that are on
	Tasks map[string]string // "2" = "Task 2 (4712)"
}

// Leaderboard says what the class's leaderboard does not show.
type Leaderboard struct {
	Refuse []string // names: whoever chose one is asked for another
}

// Manual is something that a person marks, such as a written answer.
type Manual struct {
	ID     string // as manual.csv has it: "questions"
	Title  string
	Task   registry.Name
	Points float64
	// Questions have the points of each of the handout's: they are marked one by one. Without them it has one mark.
	Questions map[string]float64
}

// Item is what has one mark: a [[manual]] item, or one of its questions.
type Item struct {
	ID       string // as manual.csv has it: "questions", "questions/2"
	Title    string
	Task     registry.Name
	Points   float64
	Question int // 0 for an item without
}

// Items are all that a person marks, in the file's order and the questions'.
func (c *Course) Items() (all []Item) {
	for _, m := range c.Manual {
		if len(m.Questions) == 0 {
			all = append(all, Item{ID: m.ID, Title: m.Title, Task: m.Task, Points: m.Points})
			continue
		}
		for _, n := range m.numbers() {
			title := cmp.Or(m.Title, m.ID)
			all = append(all, Item{ID: fmt.Sprintf("%s/%d", m.ID, n), Title: fmt.Sprintf("%s, question %d", title, n), Task: m.Task, Points: m.Questions[strconv.Itoa(n)], Question: n})
		}
	}
	return all
}

// numbers are its questions', in order; settleManual has seen to them.
func (m Manual) numbers() (all []int) {
	for key := range m.Questions {
		if n, err := strconv.Atoi(key); err == nil {
			all = append(all, n)
		}
	}
	slices.Sort(all)
	return all
}

// Due is a task's deadline, without extensions and grace; zero where there is none.
func (c *Course) Due(task registry.Name) time.Time { return c.due[task] }

// Grace is how late is still on time.
func (c *Course) Grace() time.Duration { return c.grace }

// Location is the time zone of all times without one of their own.
func (c *Course) Location() *time.Location { return c.location }

// TaskLimit bounds the grading of one task of one submission.
func (c *Course) TaskLimit() time.Duration { return c.limit }

// Graded tells whether a task is on.
func (c *Course) Graded(task registry.Name) bool {
	for _, n := range c.Tasks {
		if n == task {
			return true
		}
	}
	return len(c.Tasks) == 0 && !task.Bonus() && !task.WarmUp()
}

// Key names what of the course decides on a task's measurements. Deadlines, points, curves and
// late days are not part of it: they are applied to what was measured, and may change
// without grading anything again.
func (c *Course) Key() string { return cache.Key("course", c.Seed) }
