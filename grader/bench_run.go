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
	"flashlab/grader/build"
	"flashlab/grader/grade"
	"flashlab/grader/host"
	"flashlab/grader/reference"
)

// benchRun is one task's turn.
type benchRun struct {
	benchFlags
	o      grade.Options
	torch  *bench.Torch
	absent string // why there is no torch
	keep   func(p reference.Part)
}

func (b benchRun) options() bench.Options {
	o := bench.Options{Runs: b.runs, Warm: 2, Pieces: 8, Seed: b.seed}
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
func (b benchRun) peers(ctx context.Context) (all []bench.Peer, closed func(), err error) {
	closed = func() {}
	if (!b.solution || b.version != "") && !b.released {
		o := b.o
		o.Subject = grade.Solution(o.Root, o.Task)
		r, shut, err := grade.Open(ctx, o, turnTime)
		if err != nil {
			return nil, nil, fmt.Errorf("the reference solution, to race beside it: %w", err)
		}
		all, closed = append(all, &bench.Rival{Name: "reference", Runner: r}), shut
	}
	if b.torch != nil {
		all = append(all, b.torch)
	}
	return all, closed, nil
}

// task times all that there is of one task, and writes it down if it is to be kept.
func (b benchRun) task(ctx context.Context) (right bool, err error) {
	p := reference.Part{Task: b.o.Task.Number, Title: b.o.Task.Title, Date: reference.Now(), Commit: b.commitOf(ctx), Go: runtime.Version(),
		Seed: b.seed, GPU: b.o.Devices.GPU, Before: reference.Look(ctx)}
	if p.Peer = ""; b.torch != nil {
		p.Peer = b.torch.About
	} else {
		p.NoPeer = b.absent
	}
	right = true
	if workloads := b.workloads(b.o.Task.Number); len(workloads) > 0 {
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
	p.After = reference.Look(ctx)
	b.keep(p)
	if b.docs == "" {
		return right, nil
	}
	return right, b.write(ctx, p)
}

// rows times the task's workloads.
func (b benchRun) rows(ctx context.Context, p *reference.Part, workloads []bench.Workload) (right bool, err error) {
	r, closed, err := grade.Open(ctx, b.o, turnTime)
	if err != nil {
		return false, err
	}
	defer closed()
	if p.Test, err = bench.Test(ctx, r, bench.SelfTestWorkload(workloads[0].Op), b.options()); err != nil {
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
		row, err := bench.Measure(ctx, r, w, b.options(), peers...)
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
func (b benchRun) versions(ctx context.Context) (all []reference.Version, err error) {
	workloads := bench.VersionWorkloads(b.o.Task.Number)
	names := build.Versions(b.o.Root, b.o.Task)
	if len(workloads) == 0 || len(names) == 0 {
		return nil, nil
	}
	fmt.Println("\nThe versions of the solution:")
	for _, name := range append(names, "") {
		o := b.o
		if name != "" {
			o.Subject = grade.Version(o.Root, o.Task, name)
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
func (b benchRun) onEach(ctx context.Context, o grade.Options, name string, workloads []bench.Workload) (all []reference.Version, err error) {
	r, closed, err := grade.Open(ctx, o, turnTime)
	if err != nil {
		return nil, err
	}
	defer closed()
	for _, w := range workloads {
		row, err := bench.Measure(ctx, r, w, b.options())
		if err != nil {
			return nil, err
		}
		fmt.Printf("%s:%s", strings.TrimSpace(name+" "+o.Subject.Name), row.Text(bench.SelfTest{}))
		all = append(all, reference.Version{Name: name, Row: row})
	}
	return all, nil
}

// write puts a task's part into the document, and draws all of it anew.
func (b benchRun) write(ctx context.Context, p reference.Part) error {
	d, err := reference.Load(b.docs)
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
	m := reference.Mistakes{Date: reference.Now(), Commit: b.commitOf(ctx), Device: b.o.Devices.Name(), Seed: b.seed, Before: reference.Look(ctx)}
	if b.o.Devices.Kind == device.CUDA {
		m.Device = b.o.Devices.GPU
	}
	if b.torch != nil {
		m.Peer = b.torch.About
	}
	open := func() (*host.Runner, func(), error) { return grade.Open(ctx, b.o, turnTime) }
	for _, w := range bench.MistakeWorkloads() {
		some, err := bench.Mistakes(ctx, open, w, b.options(), b.torch)
		if err != nil {
			return err
		}
		m.Results = append(m.Results, some...)
	}
	m.After = reference.Look(ctx)
	fmt.Print("\n", m.Table())
	if b.docs == "" {
		return nil
	}
	return m.Write(b.docs)
}

// cheats runs the task's mutants that cheat the clock, and tells whether all were caught.
func (b benchRun) cheats(ctx context.Context) (caught bool, err error) {
	caught = true
	for _, name := range build.TimingMutants(b.o.Root, b.o.Task) {
		m, err := build.LoadTimingMutant(b.o.Root, b.o.Task, name)
		if err != nil {
			return false, err
		}
		o := b.o
		o.Subject = grade.Mutant(o.Root, o.Task, m)
		said, err := b.cheat(ctx, o)
		if err != nil {
			return false, err
		}
		if said == "" {
			caught, said = false, "NOT CAUGHT"
		}
		fmt.Printf("%-18s %s\n%-18s %s\n", name, m.About, "", said)
	}
	return caught, nil
}

// cheat runs one, on a small workload of each of the task's operations.
func (b benchRun) cheat(ctx context.Context, o grade.Options) (said string, err error) {
	r, closed, err := grade.Open(ctx, o, turnTime)
	if err != nil {
		return "", err
	}
	defer closed()
	done := map[string]bool{}
	for _, w := range bench.All() {
		if w.Task != o.Task.Number || done[w.Op] || said != "" {
			continue
		}
		done[w.Op] = true
		row, err := bench.Measure(ctx, r, w, b.options())
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
