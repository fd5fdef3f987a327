package measure

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"time"

	"flashlab/grader/bench"
	"flashlab/grader/grading/race"
	"flashlab/grader/grading/run"
)

// Small runs a small workload of each operation that would be timed, once: so that what compiles its kernels has done so.
func (b Options) Small(ctx context.Context) (right bool, err error) {
	table, err := bench.Table(b.Task)
	if err != nil {
		return false, err
	}
	r, closed, err := run.Open(ctx, b.Options, turn)
	if err != nil {
		return false, err
	}
	defer closed()
	o := b.race()
	o.Runs, o.Warm, o.Small = 1, 0, true
	right = true
	seen := map[string]bool{}
	for _, w := range table {
		if seen[w.Op] {
			continue
		}
		seen[w.Op] = true
		row, err := race.Measure(ctx, r, w, o)
		if err != nil {
			return false, err
		}
		right = right && row.Right()
		fmt.Print(row.Text(race.SelfTest{}))
	}
	return right, nil
}

// Commands runs a program with each of these arguments, so many at a time. What one of them has to say is for later, when
// the same is done again and timed.
func Commands(ctx context.Context, program string, all [][]string, atOnce int) time.Duration {
	start := time.Now()
	waiting := make(chan []string)
	var done sync.WaitGroup
	for range atOnce {
		done.Go(func() {
			for args := range waiting {
				cmd := exec.CommandContext(ctx, program, args...)
				out, err := cmd.CombinedOutput()
				var exit *exec.ExitError
				inexact := errors.As(err, &exit) && exit.ExitCode() == 1 // a version may be that on purpose
				if err != nil && !inexact && ctx.Err() == nil {
					fmt.Fprintf(os.Stderr, "compiling ahead: %v: %v\n%s\n", args, err, last(out))
				}
			}
		})
	}
	for _, args := range all {
		waiting <- args
	}
	close(waiting)
	done.Wait()
	return time.Since(start)
}

// last is the end of what a program printed.
func last(out []byte) string {
	const most = 500
	if len(out) > most {
		out = out[len(out)-most:]
	}
	return string(out)
}
