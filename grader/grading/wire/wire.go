// Package wire is what the grader and a worker say to each other. A worker
// holds a student's code, so the grader believes nothing in a reply but that
// it is an output or an error: every verdict is the grader's own.
//
// Messages travel on descriptors that the worker inherits, never on stdout,
// which a student's prints may fill.
package wire

import (
	"errors"
	"fmt"
	"io"

	"flashlab/attn"
	"flashlab/device"
	"flashlab/grader/grading/problem"
	"flashlab/internal/frame"
)

// The worker's descriptors.
const (
	CasesFD  = 3 // Hello and Cases one way, Replies the other
	DeviceFD = 4 // package device/remote
)

// ReplayMode is a worker's first argument when a tool of CUDA's watches it: then it
// takes its cases from a file, the second one, writes its replies to the third, and
// compiles for itself. Such tools need not pass descriptors on.
const ReplayMode = "replay"

// Hello is the grader's first message.
type Hello struct {
	Device device.Kind
}

// Reply answers a Hello (ID 0) or a Case. Its payload is the outputs, as encode
// writes them. What a worker says about its timing travels separately: see Took.
type Reply struct {
	ID    int
	Error *Error `json:",omitempty"`
	// Counts is what the course's own part of a worker counted, where there
	// is no device to do it: see Moved.
	Counts map[string]uint64 `json:",omitempty"`
}

// Class sorts the errors of student code.
type Class string

// The classes.
const (
	NotImplemented Class = "not_implemented"
	Compile        Class = "compile" // of a kernel
	Fault          Class = "fault"   // a kernel was stopped
	Panicked       Class = "panic"
	Failed         Class = "error"
	// Died is never sent: the grader finds a worker dead or silent.
	Died Class = "died"
)

// Error is what went wrong in student code.
type Error struct {
	Class Class
	Text  string
	Where string `json:",omitempty"` // the student's file and line, of a panic
}

func (e *Error) Error() string {
	if e.Where != "" {
		return e.Where + ": " + e.Text
	}
	return e.Text
}

// maxText bounds the text that a worker may send.
const maxText = 16 << 10

// ErrorOf classifies an error of student code.
func ErrorOf(err error) *Error {
	var compile *device.CompileError
	class := Failed
	switch {
	case err == nil:
		return nil
	case errors.Is(err, attn.ErrNotImplemented):
		class = NotImplemented
	case errors.As(err, &compile):
		class = Compile
	case errors.Is(err, device.ErrFault):
		class = Fault
	}
	return &Error{Class: class, Text: Cut(err.Error(), maxText)}
}

// Cut bounds a text.
func Cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:n] + fmt.Sprintf("… (%d more bytes)", len(s)-n)
}

// WriteReply sends a reply, with an output if there is one.
func WriteReply(w io.Writer, r Reply, out *problem.Answer) error {
	var payload []byte
	if out != nil {
		r.Counts = out.Counts
		if payload = out.Record; payload == nil {
			data, err := encode(out.Tensors)
			if err != nil {
				return err
			}
			payload = data
		}
	}
	return frame.Write(w, r, payload)
}

// ReadReply reads the reply to a case, and its output: nil exactly if the
// reply is an error. Its tensors have the shapes that the case asks for.
func ReadReply(r io.Reader, c problem.Problem) (Reply, *problem.Answer, error) {
	var reply Reply
	payload, err := frame.Read(r, &reply)
	if err != nil {
		return reply, nil, err
	}
	if reply.ID != c.ID {
		return reply, nil, fmt.Errorf("a reply to case %d, want %d", reply.ID, c.ID)
	}
	if reply.Error != nil {
		reply.Error.Text = Cut(reply.Error.Text, 2*maxText)
		reply.Error.Where = Cut(reply.Error.Where, 256)
		return reply, nil, nil
	}
	if c.Recorded {
		return reply, &problem.Answer{Record: payload, Counts: reply.Counts}, nil
	}
	tensors, err := decode(payload, c.Outputs)
	if err != nil {
		return reply, nil, err
	}
	return reply, &problem.Answer{Tensors: tensors, Counts: reply.Counts}, nil
}
