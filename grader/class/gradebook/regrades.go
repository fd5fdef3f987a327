package gradebook

import (
	"fmt"
	"slices"
	"strings"

	"flashlab/grader/class/record"
	"flashlab/grader/grading/handin"
)

// Answer is a row of regrades.csv: request, answer, by, and student for who reads the table.
type Answer struct {
	Request string // its id
	Text    string // the student reads it
	By      string
	place
}

// Asked is a student's regrade request. One without an answer stands as long as the last attempt that could be read has
// it in its regrade.toml; one with an answer stands for good.
type Asked struct {
	handin.Request
	ID     string
	Answer *Answer        // nil until there is one
	About  *record.Record // the attempt that it is about; nil if there is none with its receipt
}

// Open tells that nobody has answered it yet.
func (a Asked) Open() bool { return a.Answer == nil }

// asked are a student's requests, the first one first.
func (c Class) asked(attempts []*record.Record) (all []Asked) {
	legible := readable(attempts)
	for i, r := range legible {
		for _, request := range r.Submission.Requests {
			one := Asked{Request: request, ID: request.ID(c.known(r.Student).ID), About: about(legible, request)}
			for j, a := range c.Tables.Answers {
				if a.Request == one.ID {
					one.Answer = &c.Tables.Answers[j]
				}
			}
			seen := slices.ContainsFunc(all, func(other Asked) bool { return other.ID == one.ID })
			if !seen && (!one.Open() || i == len(legible)-1) {
				all = append(all, one)
			}
		}
	}
	return all
}

// about is the last attempt with a request's receipt; the last one of all where it names none.
func about(attempts []*record.Record, r handin.Request) *record.Record {
	digits, err := receipt(r.Receipt)
	for _, one := range slices.Backward(attempts) {
		if err == nil && strings.HasPrefix(one.Submission.SHA256, digits) {
			return one
		}
	}
	return nil
}

// OpenRequests counts the requests without an answer. A group's count once.
func OpenRequests(entries []Entry) int {
	open := map[string]bool{}
	for _, e := range entries {
		for _, a := range e.Asked {
			if a.Open() {
				open[a.ID] = true
			}
		}
	}
	return len(open)
}

// Sentence is what the student reads of it.
func (a Asked) Sentence() string {
	head := fmt.Sprintf("Regrade request %s, %s: ", a.ID, a.What())
	if a.Open() {
		return head + "awaits an answer."
	}
	return head + a.Answer.Text
}

// unasked are answers to requests that nobody made.
func (c Class) unasked(entries []Entry) (notes []string) {
	made := map[string]bool{}
	for _, e := range entries {
		for _, a := range e.Asked {
			made[a.ID] = true
		}
	}
	for i, a := range c.Tables.Answers {
		again := slices.IndexFunc(c.Tables.Answers[i+1:], func(other Answer) bool { return other.Request == a.Request })
		switch {
		case !made[a.Request]:
			notes = append(notes, fmt.Sprintf("%s: ignored: there is no request %s", a.Where(), a.Request))
		case again >= 0:
			notes = append(notes, replaced(a.place, c.Tables.Answers[i+1+again].place))
		}
	}
	return notes
}
