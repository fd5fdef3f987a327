// Package record keeps what was measured of one attempt of one student as one JSON file,
// written whole. A record holds only measurements and their reasons. Package gradebook
// applies deadlines, late days and overrides to records, and chooses the attempt that
// counts. It can do so any number of times, without measuring anything again.
//
// Records are in a batch's folder as records/STUDENT/ATTEMPT.json. Everything but Times
// depends only on the submission, the release and the class seed: grading again gives
// the same bytes.
package record

import (
	"time"

	"flashlab/grader/grading/handin"
	"flashlab/grader/grading/verdict"
	"flashlab/grader/tasks/registry"
)

// Version is that of the format. A reader refuses a newer one.
const Version = 1

// Record is one attempt of one student, or of a group.
type Record struct {
	Version    int
	Student    Student
	Group      []Student  `json:",omitempty"` // who else handed it in; they get the same points
	Attempt    int        // counts from 1
	Submitted  *time.Time `json:",omitempty"` // nil where the export does not say
	MarkedLate bool       `json:",omitempty"` // by where it was handed in, such as Canvas
	Submission Submission
	Release    string // names the tree that graded
	Seed       uint64 // of the inputs: from the class seed, the student and the submission
	// Trouble is why nothing of the submission could be graded, in words for the
	// student: a broken archive, say. It earns no points. "" if there is none.
	Trouble string `json:",omitempty"`
	Tasks   []Task // by number
}

// Student is whom an attempt belongs to.
type Student struct {
	ID    string // as the roster, else the export, has it
	Name  string `json:",omitempty"`
	Email string `json:",omitempty"`
}

// Submission is what was handed in.
type Submission struct {
	File   string   // its path below the submissions' folder
	SHA256 string   // the receipt: of the permitted files, their names and their texts
	Extra  []string `json:",omitempty"` // files that are not graded, the first of them
	Notes  []string `json:",omitempty"` // what was odd about it, for the student
	// Answers are those of its Results.md: no grader reads them, a person does.
	Answers []Answer `json:",omitempty"`
	// Leaderboard is the name that its leaderboard.txt asks for, as it stands there; "" without one.
	Leaderboard string `json:",omitempty"`
	// Requests are those of its regrade.toml.
	Requests []handin.Request `json:",omitempty"`
}

// Answer is what a student wrote below a question of a task's handout.
type Answer struct {
	Task   registry.Name
	Number int
	Text   string
}

// Task is what was measured of one task.
type Task struct {
	Name   registry.Name   `json:"Number"`
	Key    string          // names everything that the measurement depends on; equal keys need no grading
	Files  string          // SHA-256 of this task's files: it tells when they last changed
	Result verdict.Verdict // its checks, with their parts (points, measured or not), cases, and what is held
	// Failed is the grader's own failure: nothing is known of the task, no
	// points are lost, and the next run grades it again. "" if there is none.
	Failed string `json:",omitempty"`
	Device string // what correctness was measured on
	Times  *Times `json:",omitempty"`
}

// Times vary from run to run; nothing else in a record does.
type Times struct {
	Began   time.Time
	Seconds float64
}

// Task finds a task's part of the record; nil if it was not graded.
func (r *Record) Task(name registry.Name) *Task {
	for i := range r.Tasks {
		if r.Tasks[i].Name == name {
			return &r.Tasks[i]
		}
	}
	return nil
}

// Put replaces a task's part, or adds it in its place.
func (r *Record) Put(t Task) {
	for i := range r.Tasks {
		switch {
		case r.Tasks[i].Name == t.Name:
			r.Tasks[i] = t
			return
		case registry.All.Before(t.Name, r.Tasks[i].Name):
			r.Tasks = append(r.Tasks[:i], append([]Task{t}, r.Tasks[i:]...)...)
			return
		}
	}
	r.Tasks = append(r.Tasks, t)
}

// Held finds what makes a check await a person; nil if nothing does. To the student it
// says no more than that; an override of the check decides.
func (t *Task) Held(check string) *verdict.Held {
	for i, h := range t.Result.Held {
		if h.Check == check || h.Check == "" {
			return &t.Result.Held[i]
		}
	}
	return nil
}

// Members are all students that the record belongs to.
func (r *Record) Members() []Student { return append([]Student{r.Student}, r.Group...) }
