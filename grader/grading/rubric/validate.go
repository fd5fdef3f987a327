package rubric

import (
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"slices"

	"flashlab/grader/tasks/registry"
)

var (
	packageName = regexp.MustCompile(`^[a-z][a-z0-9]*$`)
	idForm      = regexp.MustCompile(`^[a-z][a-z0-9-]*$`)
	caseForm    = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]*$`)
)

func (t *Task) validate(all registry.List) error {
	switch {
	case !packageName.MatchString(t.Package):
		return fmt.Errorf("package = %q: want a Go package name", t.Package)
	case t.Title == "":
		return fmt.Errorf("title is missing")
	case !(t.Points > 0):
		return fmt.Errorf("points = %v: want more than 0", t.Points)
	case len(t.Files) == 0 && len(t.Uses) == 0:
		return fmt.Errorf("files is empty: a student could change nothing")
	case len(t.Checks) == 0:
		return fmt.Errorf("there is no [[check]]")
	case t.Limits.Build < 1 || t.Limits.Case < 1 || t.Limits.Output < 1 || (t.OnDevice() && t.Limits.Steps < 1):
		return fmt.Errorf("limits: build, case, output and steps must all be set")
	case t.Limits.Memory < 64:
		return fmt.Errorf("limits: memory = %d: want the megabytes that a program may take, at least 64", t.Limits.Memory)
	case t.Device != "" && t.OnDevice():
		return fmt.Errorf("device = %q: want \"none\", or nothing for a GPU or the simulator", t.Device)
	}
	if err := t.validateUses(all); err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, f := range append(append([]string{}, t.Files...), t.Provided...) {
		header := filepath.Ext(f) == Header && slices.Contains(t.Files, f)
		if f != filepath.Base(f) || seen[f] || (filepath.Ext(f) != ".go" && filepath.Ext(f) != ".cu" && !header) {
			return fmt.Errorf("file %q: want distinct names of .go and .cu files in the task's own folder, and of .cuh files that students write", f)
		}
		seen[f] = true
	}
	for _, f := range t.Honours {
		if !slices.Contains(t.Files, f) {
			return fmt.Errorf("honours: %q is not among files", f)
		}
	}
	for _, f := range t.Bench.Untimed {
		if !slices.Contains(t.Files, f) {
			return fmt.Errorf("bench: untimed: %q is not among files", f)
		}
	}
	if err := t.validatePoints(); err != nil {
		return err
	}
	checks := map[string]bool{}
	for _, c := range t.Checks {
		if err := c.validate(checks); err != nil {
			return fmt.Errorf("check %q: %w", c.ID, err)
		}
		if err := t.Split(c).validate(t.OnDevice()); err != nil {
			return fmt.Errorf("check %q: %w", c.ID, err)
		}
		if _, err := t.parts(c); err != nil {
			return fmt.Errorf("check %q: %w", c.ID, err)
		}
		if s := t.Split(c); s.Traffic+s.Banks > 0 && c.TrafficCases() == 0 {
			return fmt.Errorf("check %q: traffic or banks has a share, but no case says traffic = true", c.ID)
		}
		if curve := t.Curve(c); t.Split(c).Traffic > 0 && !(curve.Full >= 1 && curve.None > curve.Full) {
			return fmt.Errorf("check %q: traffic: want 1 ≤ full < none, got full = %v and none = %v", c.ID, curve.Full, curve.None)
		}
		if err := t.validateSpeed(c); err != nil {
			return fmt.Errorf("check %q: %w", c.ID, err)
		}
		checks[c.ID] = true // a check may only come after earlier ones
	}
	for _, r := range t.Reports {
		if err := r.validate(); err != nil {
			return fmt.Errorf("report %q: %w", r.Title, err)
		}
	}
	for i, m := range t.NVCC {
		if err := m.validate(); err != nil {
			return fmt.Errorf("nvcc, entry %d: %w", i+1, err)
		}
	}
	if err := t.Bench.validate(); err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	return nil
}

func (t *Task) validateUses(all registry.List) error {
	for i, n := range t.Uses {
		if !all.Before(n, t.Name) || slices.Contains(t.Uses[:i], n) {
			return fmt.Errorf("uses = %v: want the names of earlier tasks, each once", t.Uses)
		}
	}
	return nil
}

func (t *Task) validatePoints() error {
	var sum float64
	for _, c := range t.Checks {
		switch {
		case c.Optional && c.Points != 0:
			return fmt.Errorf("check %q: points = %v: an optional check has none", c.ID, c.Points)
		case c.Optional && t.Name.WarmUp():
			return fmt.Errorf("check %q: optional: no check of the warm-up has points", c.ID)
		case !c.Optional && !(c.Points > 0):
			return fmt.Errorf("check %q: points = %v: want more than 0", c.ID, c.Points)
		}
		sum += c.Points
	}
	if math.Abs(sum-t.Points) > 1e-9 {
		return fmt.Errorf("the checks' points add up to %v, the task's are %v", sum, t.Points)
	}
	return nil
}

func (s Shares) validate(onDevice bool) error {
	switch {
	case s.Correctness <= 0 || min(s.Safety, s.Traffic, s.Banks, s.Speed) < 0 || math.Abs(s.Correctness+s.Safety+s.Traffic+s.Banks+s.Speed-1) > 1e-9:
		return fmt.Errorf("shares %v + %v + %v + %v + %v: want correctness > 0, none negative, and 1 in all", s.Correctness, s.Safety, s.Traffic, s.Banks, s.Speed)
	case !onDevice && (s.Safety > 0 || s.Banks > 0 || s.Speed > 0):
		return fmt.Errorf("shares: without a device there is neither safety nor banks nor speed to measure")
	}
	return nil
}

// validateSpeed looks at what is timed, and how it is marked.
func (t *Task) validateSpeed(c Check) error {
	share := t.Split(c).Speed
	if share == 0 && len(c.Ladder) == 0 {
		return nil
	}
	if share == 0 || len(c.Ladder) == 0 {
		return fmt.Errorf("a share for speed and timed = […] belong together: one is missing")
	}
	if curve := t.SpeedOf(c); !(curve.None > 0 && curve.Full > curve.None) || math.IsInf(curve.Full, 0) {
		return fmt.Errorf("speed: want 0 < none < full, got none = %v and full = %v", curve.None, curve.Full)
	}
	return nil
}

func (c Check) validate(earlier map[string]bool) error {
	switch {
	case !idForm.MatchString(c.ID):
		return fmt.Errorf("want an id of lower-case letters, digits and dashes")
	case earlier[c.ID]:
		return fmt.Errorf("the id is taken")
	case c.Title == "":
		return fmt.Errorf("title is missing")
	case c.Op == "":
		return fmt.Errorf("op is missing")
	case len(c.Cases) == 0:
		return fmt.Errorf("it has no case")
	}
	for _, a := range c.After {
		if !earlier[a] {
			return fmt.Errorf("after %q: there is no such check before this one", a)
		}
	}
	if !slices.ContainsFunc(c.Cases, func(k Case) bool { return !k.Hidden }) {
		return fmt.Errorf("all of its cases are hidden: a release would have none")
	}
	if err := c.Random.validate(); err != nil {
		return err
	}
	if (c.Withheld > 0) != (c.WithheldWeight > 0) || c.Withheld < 0 || math.IsInf(c.WithheldWeight, 0) {
		return fmt.Errorf("withheld = %d and withheld_weight = %v belong together: make release writes both", c.Withheld, c.WithheldWeight)
	}
	names := map[string]bool{}
	for _, k := range c.Cases {
		if err := k.validate(); err != nil {
			return fmt.Errorf("case %q: %w", k.Name, err)
		}
		if names[k.Name] {
			return fmt.Errorf("case %q: the name is taken", k.Name)
		}
		names[k.Name] = true
	}
	return nil
}

func (k Case) validate() error {
	switch {
	case !caseForm.MatchString(k.Name):
		return fmt.Errorf("want a name of lower-case letters, digits, dots and dashes")
	case k.GPU && k.Traffic:
		return fmt.Errorf("gpu = true and traffic = true: only the simulator counts bytes")
	case k.Hidden && k.Traffic:
		return fmt.Errorf("hidden = true and traffic = true: the points for traffic are the same with and without hidden cases")
	case k.Hidden && k.GPU:
		return fmt.Errorf("hidden = true and gpu = true: hidden points must not depend on the device")
	case k.Weight < 0 || math.IsNaN(k.Weight) || math.IsInf(k.Weight, 0):
		return fmt.Errorf("weight = %v: want a positive number", k.Weight)
	}
	return nil
}
