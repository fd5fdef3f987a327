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
	"strings"
	"syscall"
	"time"

	"flashlab/device"
	"flashlab/grader/bench"
	"flashlab/grader/grade"
	"flashlab/grader/rubric"
	"flashlab/internal/cache"
)

// benchFlags are the command's choices.
type benchFlags struct {
	gradeFlags
	quick    bool
	workload string
	runs     int
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
	f.StringVar(&b.submission, "submission", "", "time the files in this `folder` instead of the reference solutions")
	f.StringVar(&b.version, "version", "", "time an earlier version of the reference solution by its `name`; needs -task")
	f.StringVar(&b.workload, "workload", "", "only workloads whose id begins with this `text`")
	f.BoolVar(&b.quick, "quick", false, "fewer runs")
	f.IntVar(&b.runs, "runs", 15, "how `many` runs of each racer are timed")
	f.Uint64Var(&b.seed, "seed", 0, "seed of all inputs; drawn anew without it")
	if err := parse(f, args); err != nil {
		return exitFailed, err
	}
	if b.version != "" && (b.task == "" || b.submission != "") {
		return exitFailed, errors.New("bench: -version needs -task, and no -submission")
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
	root, err := cache.Root()
	if err != nil {
		return exitFailed, err
	}
	all, err := rubric.LoadAll(root)
	if err != nil {
		return exitFailed, err
	}
	tasks, err := rubric.Find(all, b.task)
	if err != nil {
		return exitFailed, err
	}
	devices, err := grade.Choose(root, b.device)
	if err != nil {
		return exitFailed, err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	fmt.Printf("Timing on %s, seed %d\n", devices.Name(), b.seed)
	if devices.Kind != device.CUDA {
		fmt.Println("Nothing is timed here, for want of a GPU: small workloads are run and checked instead.")
	}
	var peers []bench.Peer
	if devices.Kind == device.CUDA {
		torch, err := bench.StartTorch(ctx, root)
		if err == nil {
			defer torch.Close()
			peers = append(peers, torch)
			fmt.Println("Beside it:", torch.About)
		} else {
			fmt.Println("PyTorch is not compared with:", err)
		}
	}
	code := exitFull
	for _, t := range tasks {
		workloads := b.workloads(t.Number)
		if len(workloads) == 0 {
			continue
		}
		b.solution = b.submission == ""
		subject, err := b.subject(root, t)
		if err != nil {
			return exitFailed, err
		}
		o := grade.Options{Root: root, Task: t, Subject: subject, Devices: devices, Seed: b.seed, Output: filepath.Join(root, "out")}
		right, err := b.one(ctx, o, workloads, peers)
		if errors.Is(err, context.Canceled) {
			return exitFailed, errors.New("interrupted")
		}
		if err != nil {
			return exitFailed, fmt.Errorf("task %d: %w", t.Number, err)
		}
		if !right {
			code = exitLess
		}
	}
	return code, nil
}

func (b benchFlags) workloads(task int) (some []bench.Workload) {
	for _, w := range bench.All() {
		if w.Task == task && strings.HasPrefix(w.ID, b.workload) {
			some = append(some, w)
		}
	}
	return some
}

// one times all workloads of one task.
func (b benchFlags) one(ctx context.Context, o grade.Options, workloads []bench.Workload, peers []bench.Peer) (right bool, err error) {
	r, closed, err := grade.Open(ctx, o, turnTime)
	if err != nil {
		return false, err
	}
	defer closed()
	options := bench.Options{Runs: b.runs, Warm: 2, Pieces: 8, Seed: b.seed}
	test, err := bench.Test(ctx, r, bench.SelfTestWorkload(workloads[0].Op), options)
	if err != nil {
		return false, err
	}
	fmt.Println(test)
	right = true
	for _, w := range workloads {
		row, err := bench.Measure(ctx, r, w, options, peers...)
		if err != nil {
			return false, err
		}
		fmt.Print(row.Text(test))
		right = right && row.Right()
	}
	return right, nil
}
