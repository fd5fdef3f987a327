package page

import (
	"fmt"
	"strings"

	"flashlab/grader/tasks/registry"
)

// Code knows the hashes of the code that is here now: kernels.Of.
type Code interface {
	Solution(task registry.Name, version string) string
	Model(task registry.Name) string
}

// current is the code of a page that is written.
type current struct{ Code }

// Stale tells whether a row was timed of other code than a task's version is now: or of code that nobody knows.
func (n current) Stale(task registry.Name, version, was string) bool {
	return was == "" || was != n.Solution(task, version)
}

// mark is what a stale row begins with.
func mark(stale bool) string {
	if stale {
		return "**stale:** "
	}
	return ""
}

// Stale counts the rows of a page that were timed of other code than is here now, and all.
func (d Document) Stale(code Code) (stale, all int) {
	c := current{code}
	count := func(is bool) {
		all++
		if is {
			stale++
		}
	}
	for _, p := range d.Parts {
		for _, r := range p.Rows {
			count(c.Stale(p.Task, "", r.Kernels))
		}
		for _, v := range p.Versions {
			count(c.Stale(p.Task, v.Name, v.Row.Kernels))
		}
		for _, m := range p.Models {
			count(m.stale(p.Task, c))
		}
	}
	return stale, all
}

func (m Model) stale(task registry.Name, n current) bool {
	return m.Kernels == "" || m.Kernels != n.Model(task)
}

// writeStale says at the page's head how much of it is stale.
func (d Document) writeStale(s *strings.Builder, code Code) {
	if stale, all := d.Stale(code); stale > 0 {
		fmt.Fprintf(s, "\n> **%d of %d rows are stale.** Their code has changed since they were timed, or nobody wrote down which code it was.\n"+
			"> They begin with **stale**, and the pictures show them, too. `make bench DOCS=1` on a machine with a GPU times everything again.\n", stale, all)
	}
}

// Made is what all parts of a page have in common.
type Made struct {
	Commit, GPU, Card, Driver string
	Runs                      int
}

// Made is what a part was made of, and on.
func (p Part) Made() Made { return Made{p.Commit, p.GPU, p.Before.Card, p.Before.Driver, p.Runs} }

func (m Made) String() string {
	return fmt.Sprintf("commit %s, %s, card %s, driver %s, %d runs", known(m.Commit), known(m.GPU), known(m.Card), known(m.Driver), m.Runs)
}

// Whole says why the parts do not belong on one page: they are of several commits or several cards. A part whose rows
// name no code is from before pages were whole; all of it is stale, and it is left out here.
func (d Document) Whole() error {
	var first *Part
	for i := range d.Parts {
		p := &d.Parts[i]
		switch {
		case !p.hashed():
		case first == nil:
			first = p
		case first.Made() != p.Made():
			return fmt.Errorf("the parts of a page must come from one commit and one card, but task %s is from %v and task %s from %v: make bench DOCS=1 times them all",
				first.Task, first.Made(), p.Task, p.Made())
		}
	}
	return nil
}

// Fresh says why a page may not go to students: some of its rows were timed of other code than is here.
func (d Document) Fresh(code Code) error {
	if err := d.Whole(); err != nil {
		return err
	}
	if stale, all := d.Stale(code); stale > 0 || all == 0 {
		return fmt.Errorf("the code of %d of %d rows has changed since they were timed: make bench DOCS=1 on a machine with a GPU times them again", stale, all)
	}
	return nil
}

// hashed tells whether any row of a part names its code.
func (p Part) hashed() bool {
	for _, r := range p.Rows {
		if r.Kernels != "" {
			return true
		}
	}
	for _, m := range p.Models {
		if m.Kernels != "" {
			return true
		}
	}
	return false
}
