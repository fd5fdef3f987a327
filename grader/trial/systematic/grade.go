package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"flashlab/grader/grading/gate"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/run"
	"flashlab/grader/grading/verdict"
)

// What can come of a mutant.
const (
	unbuilt = "not built"    // no mutant, then: nothing could be handed in
	wrong   = "wrong"        // a case came out wrong
	unsafe  = "unsafe"       // the simulator found fault
	wasting = "wasting"      // it moves too much, and loses points for that alone
	alive   = "alive"        // full marks
	asking  = "for a person" // held
)

// result is one mutant's.
type result struct {
	change
	Came  string `json:"came"`
	Where string `json:"where,omitempty"` // the first case that told
}

// work is where results are kept.
type work struct {
	root, folder string
	old, new     string // the edit that each mutant has as well; old is "" for none
	ctx          context.Context
}

func (w work) file(t *rubric.Task) string {
	return filepath.Join(w.folder, string(t.Name)+".jsonl")
}

func (w work) cache() string { return filepath.Join(w.folder, "cache") }

// done reads what was graded before: the last word on each change.
func (w work) done(t *rubric.Task) (all []result, err error) {
	text, err := os.ReadFile(w.file(t))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, line := range bytes.Split(bytes.TrimSpace(text), []byte("\n")) {
		var r result
		if json.Unmarshal(line, &r) != nil {
			continue // a line that an interruption cut short
		}
		if i := find(all, r.change); i >= 0 {
			all[i] = r
		} else {
			all = append(all, r)
		}
	}
	return all, nil
}

func find(all []result, c change) int {
	for i, r := range all {
		if r.same(c) {
			return i
		}
	}
	return -1
}

// grade grades the changes that have no result yet, or, again, those that were alive.
func (w work) grade(t *rubric.Task, all []change, again bool) error {
	if len(all) == 0 {
		return nil
	}
	before, err := w.done(t)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(w.cache(), 0o755); err != nil {
		return err
	}
	defer os.RemoveAll(w.cache()) // each mutant's kernels, which nobody compiles again
	out, err := os.OpenFile(w.file(t), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer out.Close()
	itself := run.Solution(w.root, t)
	itself.Name, itself.Mutant, itself.Edit = "the solution", w.old, w.edit(change{})
	v, err := run.Task(w.ctx, w.options(t, itself))
	if err != nil {
		return err
	}
	// Large sizes' way may waste on small ones: then what it gets is full marks.
	most, _ := v.Points()
	if !v.Full() && (w.old == "" || slices.ContainsFunc(v.Checks, flawed)) {
		what, where := came(v, math.Inf(1))
		return fmt.Errorf("the solution of task %s has not got full marks itself (%s, %s; make grade TASK=%s SOLUTION=1): with the limits here, nothing could be told from its mutants", t.Name, what, where, t.Name)
	}
	for i, c := range all {
		if j := find(before, c); j >= 0 && (!again || before[j].Came != alive) {
			continue
		}
		r, err := w.one(t, c, most)
		if err != nil {
			return fmt.Errorf("%s: %w", c, err)
		}
		line, err := json.Marshal(r)
		if err != nil {
			return err
		}
		if _, err := out.Write(append(line, '\n')); err != nil {
			return err
		}
		fmt.Printf("%s %d of %d: %-9s %s\n", t.Name, i+1, len(all), r.Came, c)
	}
	return nil
}

// one grades one mutant; full marks are most.
func (w work) one(t *rubric.Task, c change, most float64) (result, error) {
	s := run.Solution(w.root, t)
	s.Name, s.Mutant = "the solution, changed", c.String()
	s.Edit = w.edit(c)
	v, err := run.Task(w.ctx, w.options(t, s))
	if err != nil {
		return result{}, err
	}
	r := result{change: c}
	r.Came, r.Where = came(v, most)
	return r, nil
}

// edit makes a change, if it is one, and then the edit that all mutants have.
func (w work) edit(c change) func(*rubric.Task, []gate.File) ([]gate.File, error) {
	return func(_ *rubric.Task, files []gate.File) ([]gate.File, error) {
		found := w.old == ""
		for i, f := range files {
			if filepath.Join(f.Task, f.Name) == c.File {
				files[i].Data = c.apply(f.Data)
			}
			if w.old != "" && bytes.Contains(files[i].Data, []byte(w.old)) {
				files[i].Data, found = bytes.ReplaceAll(files[i].Data, []byte(w.old), []byte(w.new)), true
			}
		}
		if !found {
			return nil, fmt.Errorf("-with: %q is in no file of this mutant", w.old)
		}
		return files, nil
	}
}

// flawed tells whether a case is wrong, or unsafe.
func flawed(c verdict.Check) bool {
	return len(c.Findings) > 0 || slices.ContainsFunc(c.Cases, func(k verdict.Outcome) bool { return !k.Passed })
}

// came sums a verdict up, where the solution itself gets most.
func came(v verdict.Verdict, most float64) (what, where string) {
	if v.Refused != "" {
		return unbuilt, ""
	}
	for _, c := range v.Checks {
		for _, k := range c.Cases {
			if !k.Passed && k.Class != "not_run" {
				if strings.Contains(k.Reason, "does not compile") {
					return unbuilt, ""
				}
				return wrong, c.ID + "/" + k.Name
			}
		}
		if len(c.Findings) > 0 {
			return unsafe, c.ID + "/" + c.Findings[0].Case
		}
	}
	if len(v.Held) > 0 {
		return asking, v.Held[0].Check
	}
	if score, _ := v.Points(); score >= most-1e-9 {
		return alive, ""
	}
	return wasting, ""
}
