package student

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"flashlab/device"
	"flashlab/grader/bench/kernels"
	"flashlab/grader/bench/measure"
	"flashlab/grader/bench/page"
	"flashlab/grader/grading/build"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/run"
	"flashlab/grader/tasks/registry"
)

// page is where the parts of the reference's page are kept, and what all of them have in common. It refuses a tree
// that is no commit before anything is timed.
func (b timing) page(ctx context.Context, root string, devices run.Devices, has func(*rubric.Task) bool) (*measure.Store, error) {
	commit, err := measure.PageCommit(ctx, root, b.commit)
	if err != nil {
		return nil, err
	}
	all, err := rubric.LoadAll(root)
	if err != nil {
		return nil, err
	}
	code, err := kernels.Read(root, all)
	if err != nil {
		return nil, err
	}
	at := page.Look(ctx)
	s := &measure.Store{Dir: filepath.Join(root, "out", "reference"), Docs: b.docs, Code: code,
		Made: page.Made{Commit: commit, GPU: devices.GPU, Card: at.Card, Driver: at.Driver, Runs: b.runs}}
	for _, t := range all {
		if has(t) {
			s.Tasks = append(s.Tasks, t.Name)
		}
	}
	fmt.Printf("This page is for %v.\n", s.Made)
	return s, nil
}

// ahead compiles what the page still lacks, and what its models run, all of it at once: one after the other it would take most of the time.
func (b timing) ahead(ctx context.Context, m measure.Options, tasks []*rubric.Task) error {
	if m.Devices.Kind != device.CUDA {
		return nil
	}
	own, err := os.Executable()
	if err != nil {
		return err
	}
	var all [][]string
	for _, t := range tasks {
		if _, is := m.Page.Part(t.Name); is || len(t.Bench.Table) == 0 {
			continue
		}
		for _, version := range append(build.Versions(m.Root, t), "") {
			args := []string{"bench", "-compile", "-device", "cuda", "-task", string(t.Name)}
			if version != "" {
				args = append(args, "-version", version)
			}
			all = append(all, args)
		}
	}
	for _, args := range [][]string{{"gpt2", "-model", "124M", "-tokens", "2"}, {"e2e", "-size", "full", "-tokens", "2"}} {
		all = append(all, append([]string{"run", "-solution", "-device", "cuda", "-task", "7"}, args...))
	}
	all = append(all, []string{"ways", "-device", "cuda", "-tokens", "2", "-prompt-tokens", "64"})
	took := measure.Commands(ctx, own, all, runtime.NumCPU())
	fmt.Printf("Compiled %d versions and solutions in %.0f s.\n", len(all), took.Seconds())
	return ctx.Err()
}

// stored tells whether a task's part is there from an earlier call. A task that was asked for by name is timed again.
func (b timing) stored(s *measure.Store, task registry.Name) bool {
	if s == nil || b.task != "" {
		return false
	}
	p, is := s.Part(task)
	if is {
		fmt.Printf("Task %s: already timed on %s, in %.0f s; its part is in %s.\n", task, p.Date.Format("2 January 2006, 15:04 UTC"), p.Seconds, s.Dir)
	}
	return is
}
