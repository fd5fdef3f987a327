package student

import (
	"errors"
	"flag"
	"fmt"
	"path/filepath"

	"github.com/jedib0t/go-pretty/v6/table"

	"flashlab/grader/bench/nvidia"
	"flashlab/grader/command"
)

// Profile counts what a task's kernels do, with Nsight Compute.
func Profile(course *Course) command.Command {
	return underCUDACommand("profile", "what ncu counts of a task's kernels", course, func(_ *flag.FlagSet, u *underCUDA) command.Run {
		return func([]string) (int, error) { return u.profile() }
	})
}

func (u *underCUDA) profile() (int, error) {
	ctx, stop := command.Interruptible()
	defer stop()
	it, devices, err := u.worker(ctx, nvidia.Largest)
	if err != nil {
		return command.Failed, err
	}
	defer it.Close()
	path, err := nvidia.Find("ncu", devices.Toolkit.Nvcc)
	if err != nil {
		return command.Failed, err
	}
	fmt.Printf("counting under ncu: %v (the largest case of each check; CASE= picks another)\n", it.Names)
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
	fmt.Printf("\nncu's own table: %s; what each line means: docs/gpu.md\n", filepath.Join(u.keep, "ncu.csv"))
	if failed(nvidia.Failures(it)) {
		return command.Less, nil
	}
	return command.Full, nil
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
