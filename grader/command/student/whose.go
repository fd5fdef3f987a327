package student

import (
	"flag"
	"fmt"
	"os"
	"strings"

	"flashlab/grader/bench/measure"
	"flashlab/grader/edition"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/run"
)

// Course is what the course's own repository has, and a release lacks: the solutions, and known
// mistakes in them. A command that is given nil has no flags for these.
type Course struct {
	// Mutant is a solution with a deliberate mistake.
	Mutant func(root string, t *rubric.Task, name string) (run.Subject, error)
	// Cheats are those that cheat the clock.
	Cheats func(root string, t *rubric.Task) ([]measure.Cheat, error)
}

// whose says whose files a command runs: a student's, unless it asks for something else.
type whose struct {
	course               *Course
	submission, snapshot string
	version, mutant      string
	solution             bool
}

// defineSolution adds -solution where there are solutions.
func (w *whose) defineSolution(f *flag.FlagSet, usage string) {
	if w.course != nil {
		f.BoolVar(&w.solution, "solution", false, usage)
	}
}

// defineMutant adds -mutant where there are mutants.
func (w *whose) defineMutant(f *flag.FlagSet, usage string) {
	if w.course != nil {
		f.StringVar(&w.mutant, "mutant", "", usage)
	}
}

// defineVersion adds -version where there are earlier versions of solutions.
func (w *whose) defineVersion(f *flag.FlagSet, usage string) {
	if w.course != nil {
		f.StringVar(&w.version, "version", "", usage)
	}
}

// files finds them.
func (w whose) files(root string, t *rubric.Task) (run.Subject, error) {
	if w.solution || w.mutant != "" || w.version != "" {
		if m, err := edition.Load(os.DirFS(root)); err == nil {
			return run.Subject{}, fmt.Errorf("the reference solutions are not in this tree: %s is the students' release", m.Name)
		}
	}
	switch {
	case w.mutant != "":
		return w.course.Mutant(root, t, w.mutant)
	case w.version != "":
		return run.Version(root, t, w.version), nil
	case w.solution:
		return run.Solution(root, t), nil
	case w.snapshot != "":
		s := run.HandedIn(t, w.snapshot)
		s.Name = run.Submission(root, t, "").Name
		return s, nil
	}
	return run.Submission(root, t, w.submission), nil
}

// own tells whether they are the files of whoever runs it.
func (w whose) own() bool {
	return !w.solution && w.mutant == "" && w.version == "" && w.submission == ""
}

// orSolution is a command's usage, with -solution where that can be chosen.
func orSolution(before string, course *Course, after string) string {
	if course != nil {
		before += " [-solution]"
	}
	return strings.TrimSpace(before + " " + after)
}
