package nvidia

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"flashlab/grader/grading/run"
)

// MaxLaunches is how many launches ncu counts: each is run several times for it.
const MaxLaunches = 60

// Count runs ncu around the worker, and keeps its table in dir. Counters that this GPU does not have are left out the second
// time.
func Count(ctx context.Context, path, dir string, it *run.Watched) ([]Launch, error) {
	metrics := Metrics()
	log, printed := filepath.Join(dir, "ncu.csv"), filepath.Join(dir, "ncu.out")
	for {
		_ = os.Remove(log)
		_, err := start(ctx, path, ProfilerArgs(metrics, log, MaxLaunches), it, printed)
		if err != nil {
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
		return Launches(all)
	}
}
