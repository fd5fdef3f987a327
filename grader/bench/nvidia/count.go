package nvidia

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"flashlab/grader/grading/run"
)

// MaxLaunches is how many launches ncu counts: each is run several times for it.
const MaxLaunches = 60

// Report is the file that Count leaves in its folder, for ncu-ui.
const Report = "profile.ncu-rep"

// Count runs ncu around the worker, and keeps its report and its table in dir. Counters that this GPU
// does not have are left out the second time.
func Count(ctx context.Context, path, dir string, it *run.Watched) ([]Launch, error) {
	metrics := Metrics()
	report, log, printed, table := filepath.Join(dir, Report), filepath.Join(dir, "ncu.log"), filepath.Join(dir, "ncu.out"), filepath.Join(dir, "ncu.csv")
	for {
		for _, old := range []string{report, log, table} {
			_ = os.Remove(old)
		}
		if _, err := start(ctx, path, ProfilerArgs(metrics, it.Kernels, report, log, MaxLaunches), it, printed); err != nil {
			return nil, err
		}
		text, _ := os.ReadFile(log) // where there is none, its words are in the other
		words, _ := os.ReadFile(printed)
		all := string(text) + "\n" + string(words)
		without := slices.DeleteFunc(slices.Clone(metrics), func(m string) bool { return slices.Contains(Unknown(all), m) })
		if len(without) < len(metrics) && len(without) > 0 {
			metrics = without
			continue
		}
		if _, err := os.Stat(report); err != nil {
			return Launches(all) // it says why
		}
		csv, err := exec.CommandContext(ctx, path, TableArgs(report)...).Output()
		if err != nil {
			return nil, fmt.Errorf("ncu cannot read its own report %s: %w", report, err)
		}
		if err := os.WriteFile(table, csv, 0o644); err != nil {
			return nil, err
		}
		return Launches(string(csv))
	}
}
