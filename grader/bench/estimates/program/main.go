// This program counts the versions of all solutions in the simulator, and writes the page that holds estimates against the
// times of the reference's parts:
//
//	go run ./grader/bench/estimates/program out/reference [TASK …]
//
// What was counted before and has not changed its time is kept; without arguments only the page is written anew.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"flashlab/device/estimate"
	"flashlab/grader/bench/estimates"
	"flashlab/grader/bench/page"
	"flashlab/grader/grading/rubric"
	"flashlab/internal/cache"
	"flashlab/internal/repo"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "estimates:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	root, err := repo.Root()
	if err != nil {
		return err
	}
	rungs, err := estimates.Load(root)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if len(args) > 0 {
		if rungs, err = count(root, args[0], args[1:], rungs); err != nil {
			return err
		}
	}
	if err := estimates.Save(root, rungs); err != nil {
		return err
	}
	g, err := estimate.Find("H200")
	if err != nil {
		return err
	}
	fmt.Printf("The constants, fitted to all rungs (device/estimate/constants.go):\n%.4g\n", estimates.FitAll(g, rungs))
	text := estimates.Page(estimates.HoldOut(g, rungs))
	fmt.Print(text)
	return cache.WriteFile(filepath.Join(root, estimates.PageFile), []byte(text), 0o644)
}

// count adds what is missing of some tasks, or of all.
func count(root, parts string, only []string, rungs []estimates.Rung) ([]estimates.Rung, error) {
	tasks, err := rubric.LoadAll(root)
	if err != nil {
		return nil, err
	}
	for _, t := range tasks {
		if len(only) > 0 && !slices.Contains(only, string(t.Name)) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(parts, "part-"+string(t.Name)+".json"))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		var part struct{ Versions []page.Version }
		if err := json.Unmarshal(text, &part); err != nil {
			return nil, fmt.Errorf("task %s: %w", t.Name, err)
		}
		err = estimates.Missing(context.Background(), root, t, part.Versions, rungs, func(r estimates.Rung) error {
			rungs = append(rungs, r)
			fmt.Println(r)
			return estimates.Save(root, rungs)
		})
		if err != nil {
			return nil, err
		}
	}
	return rungs, nil
}
