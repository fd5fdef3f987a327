package rubric

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Bench is what `make bench` times of a task's solution.
type Bench struct {
	Table    []Workload // of the reference's page
	Versions []Workload // what versions of the solution are compared on, one for each kind of kernel
	Ladders  []Ladder   `toml:"ladder"`
	Untimed  []string   // of the task's files, those that nothing timed runs: no row of the page goes stale with them
}

// Workload is one thing to time.
type Workload struct {
	Op     string
	Shape  []int
	Causal bool
	Beside []string // what PyTorch is asked for
}

// Ladder is the versions of one kind of kernel, from the textbook's to the solution's. All are timed on one
// workload, which is not so large that the first takes minutes.
type Ladder struct {
	Name     string
	Workload Workload
	Rungs    []Step `toml:"rung"`
}

// Step is a version that changes this kind of kernel.
type Step struct {
	Version string // its folder in solution/_versions; "" is the solution itself
	Idea    string // what is new
	Bound   string // what holds it
	// Inexact is the largest error of a row that this version is known to make, relative to the row's size,
	// where that is more than the judge allows. It is timed all the same.
	Inexact float64
}

// Macros are what Go defines when it compiles some of the task's kernels: numbers that nvcc-check compiles them with.
type Macros struct {
	Files  []string // below the task's folder, where * is any text: of the lines that name a file the first counts
	Define map[string]int
}

// Flags are the macros as nvcc takes them.
func (m Macros) Flags() string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(m.Define)) {
		all = append(all, fmt.Sprintf("-D%s=%d", name, m.Define[name]))
	}
	return strings.Join(all, " ")
}

var macroName = regexp.MustCompile(`^[A-Z][A-Z0-9_]*$`)

func (m Macros) validate() error {
	if len(m.Files) == 0 || len(m.Define) == 0 {
		return fmt.Errorf("want files = […] and define = { NAME = number }")
	}
	for name := range m.Define {
		if !macroName.MatchString(name) {
			return fmt.Errorf("define: %q: want a name in capitals", name)
		}
	}
	return nil
}

func (b Bench) validate() error {
	for _, l := range b.Ladders {
		switch {
		case !idForm.MatchString(l.Name):
			return fmt.Errorf("a ladder's name = %q: want lower-case letters and digits", l.Name)
		case len(l.Rungs) < 2:
			return fmt.Errorf("ladder %q: want two rungs or more", l.Name)
		}
		for _, s := range l.Rungs {
			if s.Idea == "" || s.Bound == "" {
				return fmt.Errorf("ladder %q: rung %q: want an idea and a bound", l.Name, s.Version)
			}
		}
	}
	return nil
}
