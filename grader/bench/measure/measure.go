// Package measure times one task's code: its workloads in turns with the reference solution and
// PyTorch, the models that use it, and, for docs/, the versions of a solution and the mistakes that
// one can make in timing.
package measure

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"flashlab/grader/bench"
	"flashlab/grader/bench/page"
	"flashlab/grader/grading/peers"
	"flashlab/grader/grading/race"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/run"
)

// Options say what is timed, and on what.
type Options struct {
	run.Options
	// Whose finds the same code for another task: models run on several tasks' files.
	Whose    func(t *rubric.Task) (run.Subject, error)
	Runs     int
	Workload string // only workloads whose id begins with it
	Racer    string // what reports call the code; "" is the reference solution
	Beside   bool   // race the reference solution beside it
	Released bool   // this is the students' tree, which has no solutions
	Torch    *peers.Torch
	Absent   string // why there is no Torch
	Commit   string // to name, where git does not tell
	Docs     string // the folder of measuring.md, where the mistakes' table is written; "" for none
	Page     *Store // of the reference's page; nil for none
	// Ways builds the program of `grader ways` on the solutions; nil where those are not what is timed.
	Ways func(ctx context.Context) (file string, err error)
}

// turn is what one run may take, with its inputs: the slowest workload of a textbook
// kernel takes seconds.
const turn = 60 * time.Second

// Has tells whether a task has something to time.
func (b Options) Has(t *rubric.Task) bool { return len(t.Bench.Table) > 0 || b.hasModel(t.Name) }

func (b Options) workloads() ([]race.Workload, error) {
	all, err := bench.Table(b.Task)
	return slices.DeleteFunc(all, func(w race.Workload) bool { return !strings.HasPrefix(w.ID, b.Workload) }), err
}

func (b Options) race() race.Options {
	return race.Options{Ops: b.Ops, Runs: b.Runs, Warm: 2, Pieces: 8, Seed: b.Seed, Name: b.Racer, Wide: true}
}

// hashOf is that of the code that is timed; "" without a page.
func (b Options) hashOf(version string) string {
	if b.Page == nil {
		return ""
	}
	return b.Page.Code.Solution(b.Task.Name, version)
}

// Measure times everything there is for one task, and stores it if it is to be kept.
func (b Options) Measure(ctx context.Context) (p page.Part, right bool, err error) {
	start := time.Now()
	p = page.Part{Task: b.Task.Name, Title: b.Task.Title, Date: page.Now(), Commit: b.commit(ctx), Go: runtime.Version(),
		Seed: b.Seed, GPU: b.Devices.GPU, Before: page.Look(ctx), Runs: b.Runs}
	if b.Torch != nil {
		p.Peer = b.Torch.About
	} else {
		p.NoPeer = b.Absent
	}
	right = true
	workloads, err := b.workloads()
	if err != nil {
		return p, false, err
	}
	if len(workloads) > 0 {
		if right, err = b.rows(ctx, &p, workloads); err != nil {
			return p, false, err
		}
		if b.Page != nil && b.Workload == "" {
			if p.Versions, err = b.versions(ctx); err != nil {
				return p, false, err
			}
		}
	}
	if b.hasModel(p.Task) {
		if err = b.models(ctx, &p); err != nil {
			return p, false, err
		}
	}
	p.After, p.Seconds = page.Look(ctx), time.Since(start).Seconds()
	if b.Page == nil {
		return p, right, nil
	}
	return p, right, b.write(p)
}

// rows times the task's workloads.
func (b Options) rows(ctx context.Context, p *page.Part, workloads []race.Workload) (right bool, err error) {
	r, closed, err := run.Open(ctx, b.Options, turn)
	if err != nil {
		return false, err
	}
	defer closed()
	if p.Test, err = race.Test(ctx, r, workloads[0].Op, b.race()); err != nil {
		return false, err
	}
	fmt.Println(p.Test)
	peers, left, err := b.peers(ctx)
	if err != nil {
		return false, err
	}
	defer left()
	right = true
	for _, w := range workloads {
		row, err := race.Measure(ctx, r, w, b.race(), peers...)
		if err != nil {
			return false, err
		}
		fmt.Print(row.Text(p.Test))
		right = right && row.Right()
		row.Kernels = b.hashOf("")
		p.Rows = append(p.Rows, row)
	}
	return right, nil
}

// peers are who races beside the code: the reference solution, if asked, and PyTorch.
func (b Options) peers(ctx context.Context) (all []race.Peer, closed func(), err error) {
	closed = func() {}
	if b.Beside {
		o := b.Options
		o.Subject = run.Solution(o.Root, o.Task)
		r, shut, err := run.Open(ctx, o, turn)
		if err != nil {
			return nil, nil, fmt.Errorf("the reference solution, to race beside it: %w", err)
		}
		all, closed = append(all, &race.Rival{Name: "reference", Runner: r}), shut
	}
	if b.Torch != nil {
		all = append(all, b.Torch)
	}
	return all, closed, nil
}

// write keeps a task's part. With the last one that lacked, the page is written.
func (b Options) write(p page.Part) error {
	if text := b.Page.Earlier().Compare(p); text != "" {
		fmt.Println(text)
	}
	missing, err := b.Page.Put(p)
	if err != nil {
		return err
	}
	fmt.Printf("Task %s took %.0f s; its part is saved in %s.\n", p.Task, p.Seconds, b.Page.Dir)
	if len(missing) > 0 {
		fmt.Printf("The page still lacks tasks %s.\n", Names(missing))
		return nil
	}
	return b.Page.Finish()
}
