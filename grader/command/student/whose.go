package student

import (
	"context"
	"flag"
	"fmt"
	"os"

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
	// Ways builds the program that runs a whole Llama on the solutions of the bonus tasks.
	Ways func(ctx context.Context, root string, devices run.Devices) (file string, err error)
}

// whose says whose files a command runs: a student's, unless it asks for something else.
type whose struct {
	course               *Course
	submission, snapshot string
	version, mutant      string
	solution             bool
}

// What the variables mean that several commands take.
const (
	aboutTask     = "the task, `2` or b1"
	aboutCase     = "one case, as `softmax/17x113`; or a check; or all with a text in their names, as gemm"
	aboutSeed     = "`7`, say: the inputs of an earlier run, by its seed"
	aboutDevice   = "auto, `sim` or cuda; auto is a GPU where there is one, else the simulator"
	aboutFolder   = "the files in this `folder`, not the task's own"
	aboutSnapshot = "a copy of your files, made earlier, in this `folder`"
)

// solutions adds SOLUTION, where there are solutions.
func (w *whose) solutions(f *flag.FlagSet) {
	if w.course != nil {
		f.BoolVar(&w.solution, "solution", false, "the reference solution, not your files")
	}
}

// all adds MUTANT and VERSION, too.
func (w *whose) all(f *flag.FlagSet) {
	w.solutions(f)
	if w.course != nil {
		f.StringVar(&w.mutant, "mutant", "", "a solution with a deliberate mistake, by its `name`")
		f.StringVar(&w.version, "version", "", "with SOLUTION=1: an earlier version of it by its `name`, as 4_quads (solution/_versions)")
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
