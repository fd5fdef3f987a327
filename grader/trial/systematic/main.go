// Command systematic changes the solutions one place after the other: every loop's bounds, every
// comparison, every index, every sum's sign and every barrier, in kernels and in Go. Each mutant is
// graded in the simulator as a submission would be. One that gets full marks shows either a hole in
// the rubric or a change that changes nothing; alive.toml says which, and why.
//
//	go run ./grader/trial/systematic -task 4            # hours, for all tasks; what is done is kept
//	go run ./grader/trial/systematic -table             # what came of it so far
package main

import (
	"context"
	"flag"
	"fmt"
	"math"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"flashlab/device"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/run"
	"flashlab/grader/tasks/rooms"
	"flashlab/internal/repo"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := command(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "systematic:", err)
		os.Exit(1)
	}
}

func command(ctx context.Context, args []string) error {
	root, err := repo.Root()
	if err != nil {
		return err
	}
	flags := flag.NewFlagSet("systematic", flag.ExitOnError)
	name := flags.String("task", "", "the task whose solution is changed; all without it")
	file := flags.String("file", "", "only this file of it")
	lines := flags.String("lines", "", "only these lines, 12 or 12-40")
	every := flags.Int("every", 1, "only every so many changes of these: a sample")
	with := flags.String("with", "", "an edit that each mutant has as well, 'old => new': say one that sends small sizes where large ones go")
	some := flags.String("kinds", strings.Join(kinds, ","), "only these kinds of changes")
	list := flags.Bool("list", false, "list the changes, and grade none")
	onlyTable := flags.Bool("table", false, "print the table of what is done, and grade none")
	again := flags.Bool("survivors", false, "grade those again that were alive, say behind a new case")
	into := flags.String("o", filepath.Join(root, "out", "systematic"), "the folder of results")
	if err := flags.Parse(args); err != nil {
		return err
	}
	all, err := rubric.LoadAll(root)
	if err != nil {
		return err
	}
	tasks := all
	if *name != "" {
		if tasks, err = rubric.Find(all, *name); err != nil {
			return err
		}
	}
	why, err := explained(root)
	if err != nil {
		return err
	}
	w := work{root: root, folder: *into, ctx: ctx}
	if *with != "" {
		var is bool
		if w.old, w.new, is = strings.Cut(*with, " => "); !is {
			return fmt.Errorf("-with %q: expected 'old => new'", *with)
		}
	}
	from, to, err := span(*lines)
	if err != nil {
		return err
	}
	for _, t := range tasks {
		these, err := of(root, t)
		if err != nil {
			return err
		}
		var picked []change
		for _, c := range these {
			if slices.Contains(strings.Split(*some, ","), c.Kind) && (*file == "" || filepath.Base(c.File) == *file) && from <= c.Line && c.Line <= to {
				picked = append(picked, c)
			}
		}
		picked = sample(picked, *every)
		switch {
		case *list:
			for _, c := range picked {
				fmt.Printf("%-12s %s\n", c.Kind, c)
			}
		case !*onlyTable:
			if err := w.grade(t, picked, *again); err != nil {
				return err
			}
		}
	}
	if *list {
		return nil
	}
	return w.table(os.Stdout, tasks, why)
}

// span reads -lines; all lines without it.
func span(lines string) (from, to int, err error) {
	if lines == "" {
		return 0, math.MaxInt, nil
	}
	first, last, is := strings.Cut(lines, "-")
	if !is {
		last = first
	}
	if from, err = strconv.Atoi(first); err == nil {
		to, err = strconv.Atoi(last)
	}
	if err != nil {
		return 0, 0, fmt.Errorf("-lines %q: expected a number, or two with a - between", lines)
	}
	return from, to, nil
}

// sample are every so many: the first of each so many.
func sample(all []change, every int) (some []change) {
	for i := 0; i < len(all); i += max(every, 1) {
		some = append(some, all[i])
	}
	return some
}

// of are the changes of a task's own files.
func of(root string, t *rubric.Task) (all []change, err error) {
	for _, name := range t.Files {
		text, err := os.ReadFile(filepath.Join(root, t.Dir, "solution", name))
		if err != nil {
			return nil, err
		}
		these, err := changes(filepath.Join(t.Dir, name), text)
		if err != nil {
			return nil, err
		}
		all = append(all, these...)
	}
	return all, nil
}

// options grade in the simulator, with limits that a solution is far below: most mutants that
// end at all end soon.
func (w work) options(t *rubric.Task, s run.Subject) run.Options {
	quick := *t
	quick.Limits.Steps = min(quick.Limits.Steps, 30_000_000)
	quick.Limits.Memory = min(quick.Limits.Memory, 2048)
	return run.Options{Root: w.root, Task: &quick, Ops: rooms.Ops, Subject: s, Seed: 42, UntilWrong: true, Output: filepath.Join(w.folder, "work"),
		Devices: run.Devices{Kind: device.Sim, Root: w.root, Cache: w.cache()}}
}
