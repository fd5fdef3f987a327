package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/term"

	"flashlab/grader/class/batch"
	"flashlab/grader/class/intake"
	"flashlab/grader/edition"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/run"
	"flashlab/grader/grading/sandbox"
	"flashlab/grader/tasks/registry"
	"flashlab/grader/tasks/rooms"
)

// batchFlags are the command's choices.
type batchFlags struct {
	classFlags
	submissions, tasks, student, device, sandbox string
	slurm, part                                  string
	jobs, atOnce, first                          int
	regrade, trust                               bool
}

func batchCommand(args []string) (int, error) {
	var b batchFlags
	f := flag.NewFlagSet("batch", flag.ContinueOnError)
	b.register(f)
	f.StringVar(&b.out, "o", "", "`folder` for records, feedback and gradebook; batch goes on with what is there")
	f.StringVar(&b.tasks, "tasks", "", "grade only these, `1,2`; those of course.toml without it")
	f.StringVar(&b.student, "student", "", "grade only this one")
	f.BoolVar(&b.regrade, "regrade", false, "grade again what is graded")
	f.StringVar(&b.device, "device", "auto", "auto, sim or cuda")
	f.StringVar(&b.sandbox, "sandbox", "auto", "where students' code runs: auto or `bwrap`")
	f.BoolVar(&b.trust, "trust", false, "grade without a sandbox: the submissions may do what you may do")
	f.StringVar(&b.slurm, "slurm", "", "grade on a cluster, `partition=gpu,gres=gpu:1,time=60`, beyond what site.toml says")
	f.IntVar(&b.atOnce, "at-once", 0, "with -slurm: so `many` students at a time; as many as the cluster gives without it")
	f.StringVar(&b.part, "part", "", "grade one student by this `plan`: what -slurm has the nodes do")
	f.IntVar(&b.first, "first", 0, "with -part: the student that the array's index 0 stands for")
	f.IntVar(&b.jobs, "j", runtime.NumCPU(), "submissions at a time")
	places, err := parsePlaces(f, args)
	if err != nil {
		return exitFailed, err
	}
	if b.part != "" {
		return b.onNode()
	}
	if len(places) != 1 || b.out == "" {
		return exitFailed, errors.New("batch: want the folder of the submissions and one for the results: batch SUBMISSIONS -o OUT")
	}
	b.submissions = places[0]
	return b.run()
}

// parsePlaces reads flags with other arguments before, between and behind them.
func parsePlaces(f *flag.FlagSet, args []string) (places []string, err error) {
	for {
		if err := f.Parse(args); err != nil {
			if !errors.Is(err, flag.ErrHelp) {
				err = errors.New("see the flags above")
			}
			return nil, err
		}
		if f.NArg() == 0 {
			return places, nil
		}
		places, args = append(places, f.Arg(0)), f.Args()[1:]
	}
}

func (b batchFlags) run() (int, error) {
	root, all, settings, err := b.open()
	if err != nil {
		return exitFailed, err
	}
	class, err := b.class(all, settings)
	if err != nil {
		return exitFailed, err
	}
	only, err := named(b.tasks, all)
	if err != nil {
		return exitFailed, err
	}
	items, err := intake.Find(b.submissions, class.Roster)
	if err != nil {
		return exitFailed, err
	}
	if b.student != "" {
		if items, err = ofStudent(items, b.student, class.Roster); err != nil {
			return exitFailed, err
		}
	}
	if settings.Submissions, err = filepath.Abs(b.submissions); err != nil {
		return exitFailed, err
	}
	if b.slurm != "" {
		return b.spread(root, all, class, settings, only, items)
	}
	devices, box, close, err := b.machine(root)
	if err != nil {
		return exitFailed, err
	}
	defer close()
	tree, err := batch.Fingerprint(root, all)
	if err != nil {
		return exitFailed, err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends us at once
	fmt.Printf("Grading %s on %s (%s), %d at a time; sandbox: %s\n", submissions(len(items)), devices.Name(), devices.Why, max(1, b.jobs), box.Name)
	settings.Sandbox = box
	terminal := term.IsTerminal(int(os.Stdout.Fd())) && os.Getenv("NO_COLOR") == ""
	watch := batch.NewProgress(os.Stdout, terminal)
	sum, err := batch.Run(ctx, batch.Options{Ops: rooms.Ops, Root: root, Out: b.out, Course: class.Course, Tasks: all, Only: only, Regrade: b.regrade,
		Devices: devices, Jobs: b.jobs, Release: edition.Name(root), Tree: tree, Watch: watch, Settings: settings}, items)
	watch.Stop()
	if errors.Is(err, context.Canceled) {
		return exitFailed, fmt.Errorf("interrupted: %d tasks were graded and are kept; the same command goes on from there", sum.Graded)
	}
	if err != nil {
		return exitFailed, err
	}
	fmt.Printf("\n%s: %d tasks graded now, %d before", submissions(sum.Submissions), sum.Graded, sum.Kept)
	if sum.Trouble > 0 {
		fmt.Printf("; %d could not be read (the gradebook says why)", sum.Trouble)
	}
	fmt.Println(".")
	if code, err := b.write(class); err != nil {
		return code, err
	}
	if len(sum.Failed) > 0 {
		return exitFailed, fmt.Errorf("%s could not be graded, by no fault of theirs; start the batch again to try these once more:\n%s", submissions(len(sum.Failed)), joined(sum.Failed))
	}
	return exitFull, nil
}

// machine picks this machine's device and sandbox.
func (b batchFlags) machine(root string) (devices run.Devices, used batch.Sandbox, close func(), err error) {
	close = func() {}
	if devices, err = run.Choose(root, b.device); err != nil {
		return
	}
	if b.trust {
		return devices, batch.Sandbox{Name: "none, as -trust says", NotHeld: []string{"Anything: submissions could do what whoever graded them may do."}}, close, nil
	}
	box, err := sandbox.Probe(b.sandbox)
	if errors.Is(err, sandbox.ErrNone) {
		err = fmt.Errorf("%w\nStrangers' code is not run without one; -trust does, and lets it do what you may do", err)
	}
	if err != nil {
		return
	}
	devices.Jail = box.Command
	return devices, batch.Sandbox{Name: box.Name, NotHeld: box.NotHeld()}, box.Close, nil
}

// ofStudent picks one student's attempts, by any of their names.
func ofStudent(items []intake.Item, name string, roster *intake.Roster) ([]intake.Item, error) {
	if s, ok := roster.Find(name); ok {
		name = s.ID
	}
	picked := slices.DeleteFunc(items, func(i intake.Item) bool { return i.Student.ID != name })
	if len(picked) == 0 {
		return nil, fmt.Errorf("-student %s: nothing of theirs is among the submissions", name)
	}
	return picked, nil
}

// named reads "1,2".
func named(s string, all []*rubric.Task) (picked []registry.Name, err error) {
	for _, word := range strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' }) {
		found, err := rubric.Find(all, word)
		if err != nil {
			return nil, fmt.Errorf("-tasks %s: want names of tasks, like 1,2: %w", s, err)
		}
		picked = append(picked, found[0].Name)
	}
	return picked, nil
}

func joined(lines []string) string { return strings.Join(lines, "\n") }

func submissions(n int) string {
	if n == 1 {
		return "1 submission"
	}
	return fmt.Sprintf("%d submissions", n)
}
