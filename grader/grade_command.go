package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"golang.org/x/term"

	"flashlab/grader/edition"
	"flashlab/grader/grading/report"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/run"
	"flashlab/grader/grading/sandbox"
	"flashlab/grader/grading/verdict"
	"flashlab/grader/tasks/rooms"
	"flashlab/grader/trial"
)

// gradeFlags are the command's choices.
type gradeFlags struct {
	task, submission, mutant, version, device, only, out string
	snapshot                                             string
	thread, block, sandbox                               string
	solution                                             bool
	seed                                                 uint64
	seeded                                               bool
}

func gradeCommand(args []string) (int, error) {
	var g gradeFlags
	f := flag.NewFlagSet("grade", flag.ContinueOnError)
	f.StringVar(&g.task, "task", "", "number of the task, `2`; all tasks without it")
	f.StringVar(&g.submission, "submission", "", "`folder` with the files to grade; the task's own without it")
	f.BoolVar(&g.solution, "solution", false, "grade the reference solution")
	f.StringVar(&g.version, "version", "", "with -solution: an earlier version of it by its `name`")
	f.StringVar(&g.mutant, "mutant", "", "grade a known-wrong solution by its `name`")
	f.StringVar(&g.device, "device", "auto", "auto, sim or cuda")
	f.StringVar(&g.only, "case", "", "run one check, or one `case` of it: softmax/17x113")
	f.StringVar(&g.thread, "thread", "", "with -case: show this thread's printf only, `3,0,0`; in the simulator")
	f.StringVar(&g.block, "block", "", "with -case: show this block's printf only, `0,1,0`")
	f.StringVar(&g.snapshot, "snapshot", "", "grade a copy of your files, made earlier, from this `folder`")
	f.StringVar(&g.sandbox, "sandbox", "", "grade a stranger's files in a sandbox: auto or `bwrap`")
	f.Uint64Var(&g.seed, "seed", 0, "seed of the inputs, to repeat a run; drawn anew without it")
	f.StringVar(&g.out, "out", "", "`folder` for the result files; out/ without it")
	if err := parse(f, args); err != nil {
		return exitFailed, err
	}
	f.Visit(func(set *flag.Flag) { g.seeded = g.seeded || set.Name == "seed" })
	if chosen := count(g.submission != "", g.solution, g.mutant != ""); chosen > 1 {
		return exitFailed, errors.New("grade: only one of -submission, -solution and -mutant")
	}
	if g.version != "" && (g.task == "" || !g.solution) {
		return exitFailed, errors.New("grade: -version needs -task and -solution")
	}
	if g.mutant != "" && g.task == "" {
		return exitFailed, errors.New("grade: -mutant needs -task")
	}
	if g.only != "" && g.task == "" {
		return exitFailed, errors.New("grade: -case needs -task")
	}
	if (g.thread != "" || g.block != "") && g.only == "" {
		return exitFailed, errors.New("grade: -thread and -block (THREAD=, BLOCK=) need -case (CASE=): of all cases it would be too much")
	}
	if !g.seeded {
		g.seed = rand.Uint64N(1_000_000_000)
	}
	return g.run()
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

func (g gradeFlags) run() (int, error) {
	root, tasks, err := find(g.task)
	if err != nil {
		return exitFailed, err
	}
	devices, err := run.Choose(root, g.device)
	if err == nil {
		devices, err = devices.Only(g.thread, g.block)
	}
	if err != nil {
		return exitFailed, err
	}
	if g.sandbox != "" {
		box, err := sandbox.Probe(g.sandbox)
		if err != nil {
			return exitFailed, err
		}
		defer box.Close()
		devices.Jail = box.Command
	}
	terminal := term.IsTerminal(int(os.Stdout.Fd())) && os.Getenv("NO_COLOR") == ""
	fmt.Println(headline(tasks, devices, g.seed) + "; course: " + edition.Name(root))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends us at once
	printer := report.Printer{W: os.Stdout, Terminal: terminal}
	var verdicts []verdict.Verdict
	code := exitFull
	for _, t := range tasks {
		subject, err := g.subject(root, t)
		if err != nil {
			return exitFailed, err
		}
		progress := report.NewProgress(os.Stdout, terminal, fmt.Sprintf("task %s", t.Name))
		v, err := run.Task(ctx, run.Options{Root: root, Task: t, Ops: rooms.Ops, Subject: subject, Devices: devices, Seed: g.seed, Only: g.only,
			Output: filepath.Join(root, "out"), Progress: progress.Case})
		progress.Stop()
		if errors.Is(err, context.Canceled) {
			return exitFailed, errors.New("interrupted; nothing was written")
		}
		if err != nil {
			return exitFailed, fmt.Errorf("task %s: %w", t.Name, err)
		}
		printer.Width = report.Width() // it may have been drawn wider or narrower meanwhile
		printer.Verdict(v)
		if !v.Full() {
			code = exitLess
		}
		verdicts = append(verdicts, v)
	}
	printer.Summary(verdicts)
	return code, g.files(root, verdicts)
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

func (g gradeFlags) subject(root string, t *rubric.Task) (run.Subject, error) {
	if g.solution || g.mutant != "" || g.version != "" {
		if m, err := edition.Load(os.DirFS(root)); err == nil {
			return run.Subject{}, fmt.Errorf("the reference solutions are not in this tree: %s is the students' release", m.Name)
		}
	}
	switch {
	case g.mutant != "":
		m, err := trial.Find(root, trial.Mutants, t, g.mutant)
		if err != nil {
			return run.Subject{}, err
		}
		return m.Subject(root), nil
	case g.version != "":
		return run.Version(root, t, g.version), nil
	case g.solution:
		return run.Solution(root, t), nil
	case g.snapshot != "":
		s := run.HandedIn(t, g.snapshot)
		s.Name = run.Submission(root, t, "").Name
		return s, nil
	}
	return run.Submission(root, t, g.submission), nil
}

// files writes the result files. One case alone leaves them as they are: it is
// no result of the task.
func (g gradeFlags) files(root string, verdicts []verdict.Verdict) error {
	if g.only != "" {
		return nil
	}
	dir := filepath.Join(root, "out")
	switch {
	case g.out != "":
		dir = g.out
	case g.solution:
		dir = filepath.Join(dir, "reference", g.version)
	case g.mutant != "":
		dir = filepath.Join(dir, "mutants", g.mutant)
	}
	if err := report.WriteJSON(dir, verdicts); err != nil {
		return err
	}
	if g.snapshot != "" { // who asked for it writes the files
		return nil
	}
	if g.solution || g.mutant != "" || g.submission != "" {
		fmt.Println("Written:", shown(root, filepath.Join(dir, "results.json")))
		return nil
	}
	if err := report.UpdateResults(filepath.Join(root, "Results.md"), verdicts); err != nil {
		return err
	}
	fmt.Println("Written: Results.md,", shown(root, filepath.Join(dir, "results.json")))
	return nil
}

func shown(root, path string) string {
	if rel, err := filepath.Rel(root, path); err == nil {
		return rel
	}
	return path
}
