package instructor

import (
	"errors"
	"fmt"
	"strings"

	"flashlab/grader/class/batch"
	"flashlab/grader/edition"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/run"
	"flashlab/grader/grading/sandbox"
	"flashlab/grader/tasks/registry"
	"flashlab/grader/tasks/rooms"
)

// machine is where strangers' code runs.
type machine struct {
	device, sandbox string
	trust           bool
}

// prepare picks this machine's device and sandbox for a class, and says who grades: all of a
// batch's options but what to grade, and where to write it. close ends the sandbox.
func (m machine) prepare(c opened) (o batch.Options, close func(), err error) {
	close = func() {}
	o = batch.Options{Ops: rooms.Ops, Root: c.root, Course: c.class.Course, Tasks: c.all, Release: edition.Name(c.root), Settings: c.settings}
	if o.Devices, err = run.Choose(c.root, m.device); err != nil {
		return o, close, err
	}
	if o.Tree, err = batch.FingerprintOf(c.root, c.all); err != nil {
		return o, close, err
	}
	if m.trust {
		o.Settings.Sandbox = batch.Sandbox{Name: "none, as TRUST says", NotHeld: []string{"Anything: submissions could do anything that the person grading them may do."}}
		return o, close, nil
	}
	box, err := sandbox.Probe(m.sandbox)
	if errors.Is(err, sandbox.ErrNone) {
		err = fmt.Errorf("%w\nStrangers' code is not run without one; TRUST=1 does, and lets it do what you may do", err)
	}
	if err != nil {
		return o, close, err
	}
	o.Devices.Jail = box.Command
	o.Settings.Sandbox = batch.Sandbox{Name: box.Name, NotHeld: box.NotHeld()}
	return o, box.Close, nil
}

// named reads "1,2".
func named(s string, all []*rubric.Task) (picked []registry.Name, err error) {
	for _, word := range strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' }) {
		found, err := rubric.Find(all, word)
		if err != nil {
			return nil, fmt.Errorf("-tasks %s: want names of tasks, like 1,2: %w", s, err)
		}
		picked = append(picked, found[0].Name)
	}
	return picked, nil
}
