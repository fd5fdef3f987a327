package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
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
	v, err := run.Task(w.ctx, w.options(t, run.Solution(w.root, t)))
	if err != nil {
		return err
	}
	if !v.Full() {
		return fmt.Errorf("the solution of task %s has not got full marks itself (make grade TASK=%s SOLUTION=1): with the limits here, nothing could be told from its mutants", t.Name, t.Name)
	}
	for i, c := range all {
		if j := find(before, c); j >= 0 && (!again || before[j].Came != alive) {
			continue
		}
		r, err := w.one(t, c)
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

// one grades one mutant.
func (w work) one(t *rubric.Task, c change) (result, error) {
	s := run.Solution(w.root, t)
	s.Name, s.Mutant = "the solution, changed", c.String()
	s.Edit = func(_ *rubric.Task, files []gate.File) ([]gate.File, error) {
		for i, f := range files {
			if filepath.Join(f.Task, f.Name) == c.File {
				files[i].Data = c.apply(f.Data)
			}
		}
		return files, nil
	}
	v, err := run.Task(w.ctx, w.options(t, s))
	if err != nil {
		return result{}, err
	}
	r := result{change: c}
	r.Came, r.Where = came(v)
	return r, nil
}

// came sums a verdict up.
func came(v verdict.Verdict) (what, where string) {
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
	switch {
	case len(v.Held) > 0:
		return asking, v.Held[0].Check
	case v.Full():
		return alive, ""
	}
	return wasting, ""
}
