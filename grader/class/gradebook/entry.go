package gradebook

import (
	"time"

	"flashlab/grader/class/record"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/verdict"
)

// Entry is one student's grade.
type Entry struct {
	Student    record.Student
	Unknown    bool            // there is a roster, and it does not have this id
	Nearest    *record.Student // of those that handed in nothing, the one that may be meant
	Tasks      []Task          // those that are on, by number
	Attempts   int             // that were handed in
	Unreadable int             // of these
	Points     float64
	Of         float64 // points that were measured or given
	GPU        float64 // points that need a GPU, and have none yet
	Awaiting   float64 // points that await a person: held, or not marked yet
	NotGraded  float64 // points of what could not be graded, through no fault of the student's
	Bonus      Bonus   // of bonus tasks, which none of the numbers above counts
	Notes      []string
	Slip       int // slip days that are spent
	SlipOf     int // of so many
	Asked      []Asked
	Shown      Shown // on the leaderboard, if they choose to be
}

// Bonus are the points of the bonus tasks that are on.
type Bonus struct{ Points, Of float64 }

// Task is one task of an entry.
type Task struct {
	Rubric *rubric.Task   // with the course's points
	Record *record.Record // the attempt that counts; nil if nothing was handed in
	Part   *record.Task   // what was measured of it, marked by Rubric; nil if nothing was
	Stale  []string       // what the rubric wants, and was not measured: an earlier one was graded by
	Checks []Check
	Manual []Manual
	Whole  *Override // of the task, whose points no check has then

	Points, Of, GPU, Awaiting, NotGraded float64 // Points before lateness

	Submitted time.Time // when its files were handed in as they are; zero if unknown
	Due       time.Time // with extensions; zero if there is no deadline
	Untimed   bool      // there is a deadline, and nobody knows when it was handed in
	Days      int       // begun after the deadline
	Slip      int       // slip days that were spent on these
	Factor    float64   // what lateness leaves: 1 if in time
	Final     float64
	Notes     []Note
}

// Note is said about a task: to the instructor, and perhaps to the student in other words.
type Note struct{ Instructor, Student string }

// forAll says the same to both.
func forAll(s string) Note { return Note{s, s} }

// Check is one check's points, by the course's scale.
type Check struct {
	ID, Title                            string
	Points, Of, GPU, Awaiting, NotGraded float64
	Override                             *Override
	Held                                 *verdict.Held // undecided
}

// Manual is what a person gives.
type Manual struct {
	ID, Title string
	Mark      *Mark // nil until there is one
	Of        float64
}

// Blank tells that not a single point was measured: no number is better than a zero.
func (t Task) Blank() bool { return t.Of == 0 }

// Blank is the same for an entry.
func (e Entry) Blank() bool { return e.Of == 0 || e.Attempts == 0 }

// Unread tells that something was handed in, and none of it could be read.
func (e Entry) Unread() bool { return e.Attempts > 0 && e.Unreadable == e.Attempts }

// Complete tells that no points are missing any more.
func (e Entry) Complete() bool { return e.GPU+e.Awaiting+e.NotGraded < 1e-9 }
