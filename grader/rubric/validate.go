package rubric

import (
	"fmt"
	"math"
	"path/filepath"
	"regexp"

	"flashlab/tensor"
)

// Ops are the operations that a check can name, with the length of a shape.
var Ops = map[string]int{"softmax": 3}

// maxElements bounds a case's tensor: it must fit in one message.
const maxElements = tensor.MaxElements

var (
	packageName = regexp.MustCompile(`^[a-z][a-z0-9]*$`)
	idForm      = regexp.MustCompile(`^[a-z][a-z0-9-]*$`)
	caseForm    = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]*$`)
)

func (t *Task) validate() error {
	switch {
	case !packageName.MatchString(t.Package):
		return fmt.Errorf("package = %q: want a Go package name", t.Package)
	case t.Title == "":
		return fmt.Errorf("title is missing")
	case !(t.Points > 0):
		return fmt.Errorf("points = %v: want more than 0", t.Points)
	case len(t.Files) == 0:
		return fmt.Errorf("files is empty: a student could change nothing")
	case len(t.Checks) == 0:
		return fmt.Errorf("there is no [[check]]")
	case t.Limits.Build < 1 || t.Limits.Case < 1 || t.Limits.Output < 1 || t.Limits.Steps < 1:
		return fmt.Errorf("limits: build, case, output and steps must all be set")
	}
	seen := map[string]bool{}
	for _, f := range append(append([]string{}, t.Files...), t.Provided...) {
		if f != filepath.Base(f) || seen[f] || (filepath.Ext(f) != ".go" && filepath.Ext(f) != ".cu") {
			return fmt.Errorf("file %q: want distinct names of .go and .cu files in the task's own folder", f)
		}
		seen[f] = true
	}
	if err := t.validatePoints(); err != nil {
		return err
	}
	checks := map[string]bool{}
	for _, c := range t.Checks {
		if err := c.validate(checks); err != nil {
			return fmt.Errorf("check %q: %w", c.ID, err)
		}
		if t.Shares.Traffic > 0 && c.TrafficCases() == 0 {
			return fmt.Errorf("check %q: traffic has a share, but no case says traffic = true", c.ID)
		}
		checks[c.ID] = true // a check may only come after earlier ones
	}
	return nil
}

func (t *Task) validatePoints() error {
	var sum float64
	for _, c := range t.Checks {
		if !(c.Points > 0) {
			return fmt.Errorf("check %q: points = %v: want more than 0", c.ID, c.Points)
		}
		sum += c.Points
	}
	s := t.Shares
	switch {
	case math.Abs(sum-t.Points) > 1e-9:
		return fmt.Errorf("the checks' points add up to %v, the task's are %v", sum, t.Points)
	case s.Correctness <= 0 || s.Safety < 0 || s.Traffic < 0 || math.Abs(s.Correctness+s.Safety+s.Traffic-1) > 1e-9:
		return fmt.Errorf("shares %v + %v + %v: want correctness > 0, none negative, and 1 in all", s.Correctness, s.Safety, s.Traffic)
	case s.Traffic > 0 && !(t.Traffic.Full >= 1 && t.Traffic.None > t.Traffic.Full):
		return fmt.Errorf("traffic: want 1 ≤ full < none, got full = %v and none = %v", t.Traffic.Full, t.Traffic.None)
	}
	return nil
}

func (c Check) validate(earlier map[string]bool) error {
	dims, known := Ops[c.Op]
	switch {
	case !idForm.MatchString(c.ID):
		return fmt.Errorf("want an id of lower-case letters, digits and dashes")
	case earlier[c.ID]:
		return fmt.Errorf("the id is taken")
	case c.Title == "":
		return fmt.Errorf("title is missing")
	case !known:
		return fmt.Errorf("unknown op %q", c.Op)
	case len(c.Cases) == 0:
		return fmt.Errorf("it has no case")
	}
	for _, a := range c.After {
		if !earlier[a] {
			return fmt.Errorf("after %q: there is no such check before this one", a)
		}
	}
	names := map[string]bool{}
	for _, k := range c.Cases {
		if err := k.validate(c.Op, dims); err != nil {
			return fmt.Errorf("case %q: %w", k.Name, err)
		}
		if names[k.Name] {
			return fmt.Errorf("case %q: the name is taken", k.Name)
		}
		names[k.Name] = true
	}
	return nil
}

func (k Case) validate(op string, dims int) error {
	switch {
	case !caseForm.MatchString(k.Name):
		return fmt.Errorf("want a name of lower-case letters, digits, dots and dashes")
	case len(k.Shape) != dims:
		return fmt.Errorf("shape %v: op %q takes %d dimensions", k.Shape, op, dims)
	case !k.Dist.Known():
		return fmt.Errorf("unknown dist %q; there are %v", k.Dist, tensor.Dists)
	case k.Weight < 0 || math.IsNaN(k.Weight) || math.IsInf(k.Weight, 0):
		return fmt.Errorf("weight = %v: want a positive number", k.Weight)
	}
	n := 1
	for _, d := range k.Shape {
		if d < 1 || n > maxElements/d {
			return fmt.Errorf("shape %v: want dimensions of at least 1, and at most %d elements", k.Shape, maxElements)
		}
		n *= d
	}
	if op == "softmax" && k.Dist == tensor.Masked && (k.Shape[1] < 64 || k.Shape[2]%2 == 0) {
		// Only every 64th element is sure to be finite: such rows hold one.
		return fmt.Errorf("shape %v with masked inputs: rows need 64 elements or more and an odd inner dimension, or a whole row could be -Inf", k.Shape)
	}
	return nil
}
