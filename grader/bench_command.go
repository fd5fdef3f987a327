package main

import (
	"context"
	"errors"
	"flag"
	"flashlab/grader/tasks/registry"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"flashlab/device"
	"flashlab/grader/bench"
	"flashlab/grader/bench/page"
	"flashlab/grader/edition"
	"flashlab/grader/grading/build"
	"flashlab/grader/grading/race"
	"flashlab/grader/grading/run"
	"flashlab/grader/tasks/rooms"
)

// benchFlags are the command's choices.
type benchFlags struct {
	gradeFlags
	quick    bool
	mistakes bool
	mutants  bool
	workload string
	docs     string
	again    string
	commit   string
	runs     int
	released bool // this is the students' tree, which has no solutions
}

// turnTime is what one run may take, with its inputs: the slowest workload of a
// textbook kernel takes seconds.
const turnTime = 60 * time.Second

// benchCommand times the reference solutions, or a submission's code.
func benchCommand(args []string) (int, error) {
	var b benchFlags
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.StringVar(&b.task, "task", "", "number of the task, `4`; all that are timed without it")
	f.StringVar(&b.device, "device", "auto", "auto, sim or cuda")
	f.StringVar(&b.submission, "submission", "", "time the files in this `folder`, beside the reference solutions; in the students' tree, its own without it")
	f.StringVar(&b.version, "version", "", "time an earlier version of the reference solution by its `name`; needs -task")
	f.StringVar(&b.workload, "workload", "", "only workloads whose id begins with this `text`")
	f.StringVar(&b.docs, "o", "", "also write reference.md, reference.json and pictures into this `folder`")
	f.StringVar(&b.commit, "commit", "", "the commit to name there, where git does not `tell`")
	f.StringVar(&b.again, "again", "", "compare the ratios with those of an earlier run, the reference.json that -o wrote: `file`")
	f.BoolVar(&b.mistakes, "mistakes", false, "measure wrongly on purpose, for docs/measuring.md")
	f.BoolVar(&b.mutants, "mutants", false, "run what cheats the clock (grader/trial/specimens/timing), and say what catches it")
	f.BoolVar(&b.quick, "quick", false, "fewer runs")
	f.IntVar(&b.runs, "runs", 15, "how `many` runs of each racer are timed")
	f.Uint64Var(&b.seed, "seed", 0, "seed of all inputs; drawn anew without it")
	if err := parse(f, args); err != nil {
		return exitFailed, err
	}
	if b.version != "" && (b.task == "" || b.submission != "") {
		return exitFailed, errors.New("bench: -version needs -task, and no -submission")
	}
	if b.again != "" && (b.mistakes || b.mutants) {
		return exitFailed, errors.New("bench: -again compares ratios, and there are none with -mistakes or -mutants")
	}
	if b.seed == 0 {
		b.seed = rand.Uint64N(1_000_000_000)
	}
	if b.quick {
		b.runs = min(b.runs, 5)
	}
	return b.measure()
}

func (b benchFlags) measure() (int, error) {
	root, tasks, err := find(b.task)
	if err != nil {
		return exitFailed, err
	}
	var earlier page.Document
	if b.again != "" { // before anything is timed: a run takes minutes
		if earlier, err = page.Read(b.again); err != nil {
			return exitFailed, fmt.Errorf("bench: -again: %w", err)
		}
	}
	if _, err := edition.Load(os.DirFS(root)); err == nil {
		b.released = true
	}
	b.solution = b.submission == "" && !b.released
	if b.docs != "" && (!b.solution || b.version != "") {
		return exitFailed, errors.New("bench: -o writes the page of the reference solutions; what a submission or an earlier version takes is told here alone")
	}
	devices, err := run.Choose(root, b.device)
	if err != nil {
		return exitFailed, err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	fmt.Printf("Timing %s on %s, seed %d\n", b.who(), devices.Name(), b.seed)
	if devices.Kind != device.CUDA {
		fmt.Println("Nothing is timed here, for want of a GPU: small workloads are run and checked instead.")
	}
	var torch *bench.Torch
	absent := "there is no GPU"
	if devices.Kind == device.CUDA {
		if torch, err = bench.StartTorch(ctx, root); err == nil {
			defer torch.Close()
			fmt.Println("Beside it:", torch.About)
		} else {
			absent = err.Error()
			fmt.Println("PyTorch is not compared with:", err)
		}
	}
	code := exitFull
	var twice []page.Pair
	elsewhere := false
	for _, t := range tasks {
		if b.mistakes && t.Name != "4" || !b.mistakes && len(b.workloads(t.Name)) == 0 && !b.chatty(t.Name) {
			continue
		}
		subject, err := b.subject(root, t)
		if err != nil {
			return exitFailed, err
		}
		o := run.Options{Root: root, Task: t, Ops: rooms.Ops, Subject: subject, Devices: devices, Seed: b.seed, Output: filepath.Join(root, "out")}
		run := benchRun{benchFlags: b, o: o, torch: torch, absent: absent, keep: func(p page.Part) {
			_, pairs := earlier.Pairs(p)
			twice = append(twice, pairs...)
			elsewhere = elsewhere || earlier.Elsewhere(p)
		}}
		right := true
		switch {
		case b.mistakes:
			err = run.slip(ctx)
		case b.mutants:
			right, err = run.cheats(ctx)
		default:
			right, err = run.task(ctx)
		}
		if errors.Is(err, context.Canceled) {
			return exitFailed, errors.New("interrupted")
		}
		if err != nil {
			return exitFailed, fmt.Errorf("task %s: %w", t.Name, err)
		}
		if !right {
			code = exitLess
		}
	}
	if b.again != "" {
		fmt.Printf("\nBeside %s:\n%s\n", b.again, page.Again(twice))
		if elsewhere {
			fmt.Println("That run was on another card: two of a kind may differ by a few percent.")
		}
	}
	return code, nil
}

// who is timed.
func (b benchFlags) who() string {
	switch {
	case b.submission != "":
		return "the files in " + b.submission
	case b.released:
		return "your files"
	case b.mutants:
		return "what cheats the clock"
	case b.version != "":
		return build.VersionTitle(b.version) + " of the reference solution,"
	}
	return "the reference solutions"
}

func (b benchFlags) workloads(task registry.Name) (some []race.Workload) {
	for _, w := range bench.All() {
		if w.Task == task && strings.HasPrefix(w.ID, b.workload) {
			some = append(some, w)
		}
	}
	return some
}
