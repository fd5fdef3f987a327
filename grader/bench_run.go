package main

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"flashlab/device"
	"flashlab/grader/bench"
	"flashlab/grader/bench/page"
	"flashlab/grader/grading/build"
	"flashlab/grader/grading/race"
	"flashlab/grader/grading/run"
	"flashlab/grader/grading/supervise"
	"flashlab/grader/tasks/rooms"
	"flashlab/grader/trial"
)

// benchRun is one task's turn.
type benchRun struct {
	benchFlags
	o      run.Options
	torch  *bench.Torch
	absent string // why there is no torch
	keep   func(p page.Part)
}

func (b benchRun) options() race.Options {
	o := race.Options{Ops: rooms.Ops, Runs: b.runs, Warm: 2, Pieces: 8, Seed: b.seed}
	switch {
	case b.submission != "":
		o.Name = "submission"
	case b.released:
		o.Name = "yours"
	case b.version != "":
		o.Name = build.VersionTitle(b.version)
	}
	return o
}

// peers are who races beside the code: the reference solution where that is neither the
// code itself nor missing, as in the students' tree; and PyTorch.
func (b benchRun) peers(ctx context.Context) (all []race.Peer, closed func(), err error) {
	closed = func() {}
	if (!b.solution || b.version != "") && !b.released {
		o := b.o
		o.Subject = run.Solution(o.Root, o.Task)
		r, shut, err := run.Open(ctx, o, turnTime)
		if err != nil {
			return nil, nil, fmt.Errorf("the reference solution, to race beside it: %w", err)
		}
		all, closed = append(all, &race.Rival{Name: "reference", Runner: r}), shut
	}
	if b.torch != nil {
		all = append(all, b.torch)
	}
	return all, closed, nil
}

// task times all that there is of one task, and writes it down if it is to be kept.
func (b benchRun) task(ctx context.Context) (right bool, err error) {
	p := page.Part{Task: b.o.Task.Name, Title: b.o.Task.Title, Date: page.Now(), Commit: b.commitOf(ctx), Go: runtime.Version(),
		Seed: b.seed, GPU: b.o.Devices.GPU, Before: page.Look(ctx)}
	if p.Peer = ""; b.torch != nil {
		p.Peer = b.torch.About
	} else {
		p.NoPeer = b.absent
	}
	right = true
	if workloads := b.workloads(b.o.Task.Name); len(workloads) > 0 {
		if right, err = b.rows(ctx, &p, workloads); err != nil {
			return false, err
		}
		if b.docs != "" && b.workload == "" && b.solution && b.version == "" {
			if p.Versions, err = b.versions(ctx); err != nil {
				return false, err
			}
		}
	}
	if b.chatty(p.Task) {
		if err = b.chats(ctx, &p); err != nil {
			return false, err
		}
	}
	p.After = page.Look(ctx)
	b.keep(p)
	if b.docs == "" {
		return right, nil
	}
	return right, b.write(ctx, p)
}

// rows times the task's workloads.
func (b benchRun) rows(ctx context.Context, p *page.Part, workloads []race.Workload) (right bool, err error) {
	r, closed, err := run.Open(ctx, b.o, turnTime)
	if err != nil {
		return false, err
	}
	defer closed()
	if p.Test, err = race.Test(ctx, r, workloads[0].Op, b.options()); err != nil {
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
		row, err := race.Measure(ctx, r, w, b.options(), peers...)
		if err != nil {
			return false, err
		}
		fmt.Print(row.Text(p.Test))
		right = right && row.Right()
		p.Rows = append(p.Rows, row)
	}
	return right, nil
}

// versions times all versions of the solution on the same workloads, the graded one last.
func (b benchRun) versions(ctx context.Context) (all []page.Version, err error) {
	workloads := bench.VersionWorkloads(b.o.Task.Name)
	names := build.Versions(b.o.Root, b.o.Task)
	if len(workloads) == 0 || len(names) == 0 {
		return nil, nil
	}
	fmt.Println("\nThe versions of the solution:")
	for _, name := range append(names, "") {
		o := b.o
		if name != "" {
			o.Subject = run.Version(o.Root, o.Task, name)
		}
		some, err := b.onEach(ctx, o, name, workloads)
		if err != nil {
			return nil, fmt.Errorf("version %q: %w", name, err)
		}
		all = append(all, some...)
	}
	return all, nil
}

// onEach times one version on each workload.
func (b benchRun) onEach(ctx context.Context, o run.Options, name string, workloads []race.Workload) (all []page.Version, err error) {
	r, closed, err := run.Open(ctx, o, turnTime)
	if err != nil {
		return nil, err
	}
	defer closed()
	for _, w := range workloads {
		row, err := race.Measure(ctx, r, w, b.options())
		if err != nil {
			return nil, err
		}
		fmt.Printf("%s:%s", strings.TrimSpace(name+" "+o.Subject.Name), row.Text(race.SelfTest{}))
		all = append(all, page.Version{Name: name, Row: row})
	}
	return all, nil
}

// write puts a task's part into the document, and draws all of it anew.
func (b benchRun) write(ctx context.Context, p page.Part) error {
	d, err := page.Load(b.docs)
	if err != nil {
		return err
	}
	if text := d.Compare(p); text != "" {
		fmt.Println(text)
	}
	d.Put(p)
	if err := d.Write(b.docs); err != nil {
		return err
	}
	if err := d.Draw(ctx, b.o.Root, b.docs); err != nil {
		return err
	}
	fmt.Println("Written:", filepath.Join(b.docs, "reference.md"))
	return nil
}

// slip makes the mistakes of docs/measuring.md.
func (b benchRun) slip(ctx context.Context) error {
	m := page.Mistakes{Date: page.Now(), Commit: b.commitOf(ctx), Device: b.o.Devices.Name(), Seed: b.seed, Before: page.Look(ctx)}
	if b.o.Devices.Kind == device.CUDA {
		m.Device = b.o.Devices.GPU
	}
	if b.torch != nil {
		m.Peer = b.torch.About
	}
	open := func() (*supervise.Runner, func(), error) { return run.Open(ctx, b.o, turnTime) }
	for _, w := range bench.MistakeWorkloads() {
		some, err := bench.Mistakes(ctx, open, w, b.options(), b.torch)
		if err != nil {
			return err
		}
		m.Results = append(m.Results, some...)
	}
	m.After = page.Look(ctx)
	fmt.Print("\n", m.Table())
	if b.docs == "" {
		return nil
	}
	return m.Write(b.docs)
}

// cheats runs the task's mutants that cheat the clock, and tells whether all were caught.
func (b benchRun) cheats(ctx context.Context) (caught bool, err error) {
	caught = true
	all, err := trial.Load(b.o.Root, trial.Timing, b.o.Task)
	if err != nil {
		return false, err
	}
	for _, m := range all {
		o := b.o
		o.Subject = m.Subject(o.Root)
		said, err := b.cheat(ctx, o)
		if err != nil {
			return false, err
		}
		if said == "" {
			caught, said = false, "NOT CAUGHT"
		}
		fmt.Printf("%-18s %s\n%-18s %s\n", m.Name, m.About, "", said)
	}
	return caught, nil
}

// cheat runs one, on a small workload of each of the task's operations.
func (b benchRun) cheat(ctx context.Context, o run.Options) (said string, err error) {
	r, closed, err := run.Open(ctx, o, turnTime)
	if err != nil {
		return "", err
	}
	defer closed()
	done := map[string]bool{}
	for _, w := range bench.All() {
		if w.Task != o.Task.Name || done[w.Op] || said != "" {
			continue
		}
		done[w.Op] = true
		row, err := race.Measure(ctx, r, w, b.options())
		if err != nil {
			return "", err
		}
		said = row.Left
		if len(row.Entries) > 0 {
			e := row.Entries[0]
			if said = e.Wrong; said == "" && e.Held != "" {
				said = "held for review: " + e.Held
			}
		}
	}
	return said, nil
}

// commitOf names what was measured.
func (b benchRun) commitOf(ctx context.Context) string {
	if b.commit != "" {
		return b.commit
	}
	git := func(args ...string) string {
		cmd := exec.CommandContext(ctx, "git", args...)
		cmd.Dir = b.o.Root
		out, err := cmd.Output()
		if err != nil {
			return ""
		}
		return strings.TrimSpace(string(out))
	}
	commit := git("rev-parse", "--short=12", "HEAD")
	if commit != "" && git("status", "--porcelain", "--untracked-files=no") != "" {
		commit += ", with changes"
	}
	return commit
}
