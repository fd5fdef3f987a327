package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/jedib0t/go-pretty/v6/table"

	"flashlab/grader/bench/nvidia"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/run"
)

// maxLaunches is how many launches ncu counts: each is run several times for it.
const maxLaunches = 60

// profileCommand counts what a task's kernels do, with Nsight Compute.
func profileCommand(args []string) (int, error) {
	var w watchFlags
	f := flag.NewFlagSet("profile", flag.ContinueOnError)
	w.define(f)
	if err := parse(f, args); err != nil {
		return exitFailed, err
	}
	ctx, stop := interruptible()
	defer stop()
	it, devices, err := w.watched(ctx, "profile", largest)
	if err != nil {
		return exitFailed, err
	}
	defer it.Close()
	path, err := nvidia.Find("ncu", devices.Toolkit.Nvcc)
	if err != nil {
		return exitFailed, err
	}
	fmt.Printf("counting under ncu: %v (the largest case of each check; CASE= picks another)\n", it.Names)
	launches, err := profile(ctx, path, w.keep, it)
	if ctx.Err() != nil {
		return exitFailed, errors.New("interrupted")
	}
	if err != nil {
		return exitFailed, fmt.Errorf("profile: %w", err)
	}
	show(nvidia.Profiles(launches))
	if len(launches) == maxLaunches {
		fmt.Printf("\nOnly the first %d launches were counted.\n", maxLaunches)
	}
	fmt.Printf("\nncu's own table: %s; what each line means: docs/gpu.md\n", filepath.Join(w.keep, "ncu.csv"))
	if !failures(it) {
		return exitLess, nil
	}
	return exitFull, nil
}

// profile runs ncu; counters that this GPU does not have are left out the second
// time.
func profile(ctx context.Context, path, dir string, it *run.Watched) ([]nvidia.Launch, error) {
	metrics := nvidia.Metrics()
	log, printed := filepath.Join(dir, "ncu.csv"), filepath.Join(dir, "ncu.out")
	for {
		_ = os.Remove(log)
		_, err := start(ctx, path, nvidia.ProfilerArgs(metrics, log, maxLaunches), it, printed)
		if err != nil {
			return nil, err
		}
		text, _ := os.ReadFile(log) // where there is none, its words are in the other
		words, _ := os.ReadFile(printed)
		all := string(text) + "\n" + string(words)
		without := slices.DeleteFunc(slices.Clone(metrics), func(m string) bool { return slices.Contains(nvidia.Unknown(all), m) })
		if len(without) < len(metrics) && len(without) > 0 {
			metrics = without
			continue
		}
		return nvidia.Launches(all)
	}
}

func show(profiles []nvidia.Profile) {
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

// largest takes the case with the most work of each check.
func largest(cases []rubric.Case) []rubric.Case {
	if len(cases) == 0 {
		return nil
	}
	return []rubric.Case{slices.MaxFunc(cases, func(a, b rubric.Case) int { return cmp.Compare(run.Elements(a), run.Elements(b)) })}
}
