package student

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"flashlab/grader/bench"
	"flashlab/grader/bench/nvidia"
	"flashlab/grader/command"
	"flashlab/grader/grading/race"
	"flashlab/grader/grading/run"
)

// Profile counts what a task's kernels do, with Nsight Compute.
func Profile(course *Course) command.Command {
	return underCUDACommand("profile", "what Nsight Compute counts of the kernels", course, func(f *flag.FlagSet, u *underCUDA) command.Run {
		workload := f.String("workload", "", "one run of a benchmark's `workload`, in place of a check's case: flash-4-2048-full")
		return func([]string) (int, error) { return u.profile(*workload) }
	})
}

func (u *underCUDA) profile(workload string) (int, error) {
	ctx, stop := command.Interruptible()
	defer stop()
	start, what := picked(nvidia.Largest), "the largest case of each check; CASE= picks another, WORKLOAD= one of the benchmark's"
	if workload != "" {
		w, err := u.workload(workload)
		if err != nil {
			return command.Failed, err
		}
		start, what = timed(w), w.Name
	}
	it, devices, err := u.worker(ctx, start)
	if err != nil {
		return command.Failed, err
	}
	defer it.Close()
	path, err := nvidia.Find("ncu", devices.Toolkit.Nvcc)
	if err != nil {
		return command.Failed, err
	}
	fmt.Printf("counting under ncu: %v (%s)\n", it.Names, what)
	launches, err := nvidia.Count(ctx, path, u.keep, it)
	if ctx.Err() != nil {
		return command.Failed, errors.New("interrupted")
	}
	if err != nil {
		return command.Failed, fmt.Errorf("profile: %w", err)
	}
	printProfiles(nvidia.Profiles(launches))
	if len(launches) == nvidia.MaxLaunches {
		fmt.Printf("\nOnly the first %d launches were counted.\n", nvidia.MaxLaunches)
	}
	fmt.Printf("\nncu's own table: %s; its report, for ncu-ui: %s; what each line means: docs/gpu.md\n",
		filepath.Join(u.keep, "ncu.csv"), filepath.Join(u.keep, nvidia.Report))
	if failed(nvidia.Failures(it)) {
		return command.Less, nil
	}
	return command.Full, nil
}

// workload finds one of the task's by its id.
func (u *underCUDA) workload(id string) (race.Workload, error) {
	if u.only != "" {
		return race.Workload{}, errors.New("profile: CASE picks a check's case, and WORKLOAD one of the benchmark's: give one of them")
	}
	var all []race.Workload
	if _, t, err := findOne("profile", u.task, "TASK=4"); err == nil {
		some, err := bench.Table(t)
		if err != nil {
			return race.Workload{}, err
		}
		more, err := bench.VersionWorkloads(t)
		if err != nil {
			return race.Workload{}, err
		}
		all = append(some, more...)
	}
	var there []string
	for _, w := range all {
		if w.ID == id {
			return w, nil
		}
		if !slices.Contains(there, w.ID) {
			there = append(there, w.ID)
		}
	}
	if len(there) == 0 {
		return race.Workload{}, fmt.Errorf("profile: no workload is timed for task %q", u.task)
	}
	slices.Sort(there)
	return race.Workload{}, fmt.Errorf("profile: task %s has no workload %q; there are %s", u.task, id, strings.Join(there, ", "))
}

// timed is one run of a workload.
func timed(w race.Workload) starter {
	return func(ctx context.Context, o run.Options) (*run.Watched, error) {
		_, c, err := w.Case(o.Ops, false)
		if err != nil {
			return nil, err
		}
		return run.WatchTimed(ctx, o, w.ID, c)
	}
}

// failed prints the cases that did not return, and tells whether there are any.
func failed(cases []string) bool {
	for _, line := range cases {
		fmt.Println("  " + line)
	}
	return len(cases) > 0
}

// printProfiles prints a table for each kernel, and what to make of it.
func printProfiles(profiles []nvidia.Profile) {
	for _, p := range profiles {
		fmt.Printf("\n%s", p.Kernel)
		if p.Launches > 1 {
			fmt.Printf(", the longest of %d launches", p.Launches)
		}
		fmt.Println()
		t := table.NewWriter()
		for _, r := range p.Rows() {
			t.AppendRow(table.Row{r.Name, r.Value, r.Note})
		}
		t.SetStyle(table.StyleLight)
		t.Style().Options = table.OptionsNoBordersAndSeparators
		fmt.Println(t.Render())
		for _, w := range p.Words() {
			fmt.Println("  " + w)
		}
	}
}
