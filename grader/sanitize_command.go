package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"flashlab/grader/bench/nvidia"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/run"
)

// quick is how many cases of each check run under compute-sanitizer, which makes
// them ten to a hundred times slower.
const quick = 4

// toolTime bounds one tool.
const toolTime = 10 * time.Minute

// sanitizeCommand runs a task's kernels under compute-sanitizer's tools.
func sanitizeCommand(args []string) (int, error) {
	var w watchFlags
	f := flag.NewFlagSet("sanitize", flag.ContinueOnError)
	w.define(f)
	tools := f.String("tools", strings.Join(nvidia.SanitizerTools, ","), "which of them")
	if err := parse(f, args); err != nil {
		return exitFailed, err
	}
	ctx, stop := interruptible()
	defer stop()
	it, devices, err := w.watched(ctx, "sanitize", small)
	if err != nil {
		return exitFailed, err
	}
	defer it.Close()
	path, err := nvidia.Find("compute-sanitizer", devices.Toolkit.Nvcc)
	if err != nil {
		return exitFailed, err
	}
	help, _ := exec.CommandContext(ctx, path, "--help").CombinedOutput()
	fmt.Printf("%d cases under compute-sanitizer: %s\n", len(it.Names), strings.Join(it.Names, ", "))
	code := exitFull
	for _, tool := range strings.Split(*tools, ",") {
		clean, err := sanitize(ctx, path, tool, string(help), w.keep, it)
		if ctx.Err() != nil {
			return exitFailed, errors.New("interrupted")
		}
		if err != nil {
			return exitFailed, fmt.Errorf("%s: %w", tool, err)
		}
		if !clean {
			code = exitLess
		}
		if !failures(it) {
			code = exitLess
		}
	}
	return code, nil
}

// sanitize runs one tool and prints what it found; clean is nothing.
func sanitize(ctx context.Context, path, tool, help, dir string, it *run.Watched) (clean bool, err error) {
	limited, stop := context.WithTimeout(ctx, toolTime)
	defer stop()
	log, printed := filepath.Join(dir, tool+".log"), filepath.Join(dir, tool+".out")
	_ = os.Remove(log)
	began := time.Now()
	code, err := start(limited, path, nvidia.SanitizerArgs(tool, help, log), it, printed)
	if limited.Err() != nil && ctx.Err() == nil {
		return false, fmt.Errorf("not done within %v: CASE= picks one case", toolTime)
	}
	if err != nil {
		return false, err
	}
	text, err := os.ReadFile(log)
	if err != nil || !strings.Contains(string(text), "=========") {
		words, _ := os.ReadFile(printed)
		return false, fmt.Errorf("compute-sanitizer did not run (exit code %d): %s", code, last(string(words), 5))
	}
	found := nvidia.Findings(tool, string(text), it.Files)
	fmt.Printf("\n%s: %s (%.1f s)\n", tool, numbered(len(found), "finding"), time.Since(began).Seconds())
	for i, f := range found {
		if i == maxShown {
			fmt.Printf("  and %d more, in %s\n", len(found)-i, log)
			break
		}
		fmt.Println("\n  " + strings.ReplaceAll(f.String(), "\n", "\n  "))
	}
	return len(found) == 0, nil
}

// maxShown is how many findings of a tool are printed.
const maxShown = 8

// failures prints cases that returned an error; a stopped kernel is told of by the
// finding.
func failures(it *run.Watched) (all bool) {
	came, err := it.Errors()
	if err != nil {
		fmt.Printf("  the worker's replies cannot be read: %v\n", err)
		return false
	}
	all = true
	for _, name := range it.Names {
		e, answered := came[name]
		switch {
		case !answered:
			fmt.Printf("  %s: no answer, so it was not looked at\n", name)
		case e != nil:
			fmt.Printf("  %s: %s\n", name, e.Error())
		default:
			continue
		}
		all = false
	}
	return all
}

// small takes the smallest cases that are larger than a block's corner case, for
// the tools are slow, and one of a single element tells little.
func small(cases []rubric.Case) []rubric.Case {
	cases = slices.DeleteFunc(cases, func(k rubric.Case) bool { return k.GPU })
	slices.SortStableFunc(cases, func(a, b rubric.Case) int { return cmp.Compare(run.Elements(a), run.Elements(b)) })
	larger := slices.DeleteFunc(slices.Clone(cases), func(k rubric.Case) bool { return run.Elements(k) < 256 })
	if len(larger) == 0 {
		larger = cases
	}
	return larger[:min(quick, len(larger))]
}

func last(s string, n int) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// numbered writes a number with its noun.
func numbered(n int, noun string) string {
	switch n {
	case 0:
		return "no " + noun + "s"
	case 1:
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
