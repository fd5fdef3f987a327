package student

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	"flashlab/device/estimate"
	"flashlab/grader/command"
	"flashlab/grader/edition"
	"flashlab/grader/grading/report"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/run"
	"flashlab/grader/grading/sandbox"
	"flashlab/grader/grading/verdict"
	"flashlab/grader/tasks/rooms"
)

// grading is what `grade` was asked for.
type grading struct {
	whose
	task, device, only     string
	thread, block, sandbox string
	variant                string
	seed                   uint64
	out                    string
	details                bool
	estimate               string // whose speed is estimated where there is no GPU
	gpu                    *estimate.GPU
	few                    int // cases of each check, printed only where one is wrong; 0 for all
}

// Grade grades.
func Grade(course *Course) command.Command {
	c := command.Command{Name: "grade", Summary: "grade your files; CASE=gemm: these cases only", Usage: "TASK=2"}
	c.Define = func(f *flag.FlagSet) command.Run {
		g := grading{whose: whose{course: course}}
		f.StringVar(&g.task, "task", "", aboutTask+"; bonus: all bonus tasks; without it, all but task 0 and the bonus tasks")
		f.StringVar(&g.submission, "submission", "", aboutFolder)
		g.all(f)
		if course != nil {
			f.StringVar(&g.variant, "variant", "", "grade as in a year with this variant, by its `name` (course.toml); SOLUTION=1 is then the variant's")
		}
		f.StringVar(&g.device, "device", "auto", aboutDevice)
		f.StringVar(&g.only, "case", "", aboutCase)
		f.BoolVar(&g.details, "details", false, "every part of every check, and what was counted besides, without points")
		f.StringVar(&g.estimate, "estimate", "", "without a GPU: the `GPU` whose speed is estimated, without points; H200 without it; no: none")
		f.StringVar(&g.thread, "thread", "", "with CASE: show this thread's printf only, `3,0,0`; in the simulator")
		f.StringVar(&g.block, "block", "", "with CASE: show this block's printf only, `0,1,0`")
		f.StringVar(&g.snapshot, "snapshot", "", aboutSnapshot)
		f.StringVar(&g.sandbox, "sandbox", "", "grade a stranger's files in a sandbox: auto or `bwrap`")
		f.Uint64Var(&g.seed, "seed", 0, aboutSeed+"; without it, a new one is drawn")
		f.StringVar(&g.out, "out", "", "`folder` for the result files; out/ without it")
		return func([]string) (int, error) {
			if err := g.check(); err != nil {
				return command.Failed, err
			}
			seeded := false
			f.Visit(func(set *flag.Flag) { seeded = seeded || set.Name == "seed" })
			if !seeded {
				g.seed = rand.Uint64N(run.Seeds)
			}
			return g.run()
		}
	}
	return c
}

// check says which variables do not go together.
func (g grading) check() error {
	switch {
	case count(g.submission != "", g.solution, g.mutant != "") > 1:
		return errors.New("grade: only one of SUBMISSION, SOLUTION and MUTANT")
	case g.version != "" && (g.task == "" || !g.solution):
		return errors.New("grade: VERSION needs TASK and SOLUTION=1")
	case g.variant != "" && (g.mutant != "" || g.version != ""):
		return errors.New("grade: VARIANT does not go with MUTANT or VERSION: these are of the plain course")
	case g.mutant != "" && g.task == "":
		return errors.New("grade: MUTANT needs TASK")
	case g.only != "" && g.task == "":
		return errors.New("grade: CASE needs TASK")
	case (g.thread != "" || g.block != "") && g.only == "":
		return errors.New("grade: THREAD and BLOCK need CASE: of all cases it would be too much")
	}
	return nil
}

func count(conditions ...bool) int {
	n := 0
	for _, c := range conditions {
		if c {
			n++
		}
	}
	return n
}

func (g grading) run() (int, error) {
	root, tasks, err := findAs(g.variant, g.task)
	if err == nil {
		g.gpu, err = run.Estimating(g.estimate)
	}
	if err != nil {
		return command.Failed, err
	}
	devices, err := run.Choose(root, g.device)
	if err == nil {
		devices, err = devices.Only(g.thread, g.block)
	}
	if err != nil {
		return command.Failed, err
	}
	if g.sandbox != "" {
		box, err := sandbox.Probe(g.sandbox)
		if err != nil {
			return command.Failed, err
		}
		defer box.Close()
		devices.Jail = box.Command
	}
	terminal := command.Terminal()
	onGitHub := onActions()
	fmt.Println(headline(tasks, devices, g.seed) + "; course: " + edition.Name(root))
	ctx, stop := command.Interruptible()
	defer stop()
	printer := report.Printer{W: os.Stdout, Terminal: terminal, Details: g.details}
	verdicts, broken := g.each(ctx, root, tasks, devices, printer)
	if broken != nil && len(verdicts) == 0 {
		return command.Failed, broken
	}
	printer.Summary(verdicts)
	if err := g.write(root, verdicts); err != nil {
		return command.Failed, err
	}
	if broken != nil {
		return command.Failed, broken
	}
	if g.own() && g.snapshot == "" { // else who asked for it says it
		printer.Next(verdicts)
	}
	if err := onGitHub.end(verdicts); err != nil {
		return command.Failed, err
	}
	for _, v := range verdicts {
		if !v.Full() {
			return command.Less, nil
		}
	}
	return command.Full, nil
}

// each grades one task after the other. What stops it costs nothing of the tasks before.
func (g grading) each(ctx context.Context, root string, tasks []*rubric.Task, devices run.Devices, printer report.Printer) (verdicts []verdict.Verdict, err error) {
	for _, t := range tasks {
		subject, err := g.files(root, t)
		if err != nil {
			return verdicts, err
		}
		o := run.Options{Root: root, Task: t, Ops: rooms.Ops, Subject: subject, Devices: devices, Seed: g.seed, Only: g.only, Few: g.few, Report: g.mutant == "" && g.few == 0,
			Estimate: g.gpu,
			Output:   filepath.Join(root, "out")}
		for _, says := range append(edition.Strayed(root, t.Folders()...), o.Several()) {
			if says != "" {
				fmt.Println(says)
			}
		}
		progress := report.NewProgress(os.Stdout, printer.Terminal, fmt.Sprintf("task %s", t.Name))
		o.Progress = progress.Case
		v, err := run.Task(ctx, o)
		progress.Stop()
		if ctx.Err() != nil { // whatever else it broke on its way
			return verdicts, fmt.Errorf("interrupted in task %s, of which nothing was written", t.Name)
		}
		if err != nil {
			return verdicts, fmt.Errorf("task %s: %w", t.Name, err)
		}
		printer.Width = report.Width() // it may have been drawn wider or narrower meanwhile
		if g.few == 0 || v.Refused != "" || first(v) != "" {
			printer.Verdict(v)
		}
		verdicts = append(verdicts, v)
	}
	return verdicts, nil
}

// headline says what is graded on; tasks in plain Go need nothing to be named.
func headline(tasks []*rubric.Task, d run.Devices, seed uint64) string {
	for _, t := range tasks {
		if t.OnDevice() {
			return fmt.Sprintf("Grading on %s (%s), seed %d", d.Name(), d.Why, seed)
		}
	}
	return fmt.Sprintf("Grading plain Go, seed %d", seed)
}
