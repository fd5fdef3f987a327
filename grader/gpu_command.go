package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/verdict"
	"flashlab/grader/slurm"
	"flashlab/grader/slurm/gpujob"
	"flashlab/internal/repo"
)

// siteName is where a cluster's own settings stand.
const siteName = "site.toml"

// remote are the commands that `make gpu` can run on a node.
var remote = []string{"grade", "profile", "sanitize"}

// gpuCommand grades on a GPU of the cluster whose login node this is.
func gpuCommand(args []string) (int, error) {
	var g gradeFlags
	f := flag.NewFlagSet("gpu", flag.ContinueOnError)
	f.StringVar(&g.task, "task", "", "number of the task; all of them without it")
	f.StringVar(&g.only, "case", "", "run one check, or one `case` of it")
	f.StringVar(&g.device, "device", "cuda", "cuda, or auto or sim, on the node")
	f.BoolVar(&g.solution, "solution", false, "grade the reference solution")
	do := f.String("do", "grade", "`what` to run there: "+strings.Join(remote, ", "))
	example := f.Bool("example", false, "print a site.toml to start from")
	if err := parse(f, args); err != nil {
		return exitFailed, err
	}
	if *example {
		fmt.Print(slurm.Example)
		return exitFull, nil
	}
	if !slices.Contains(remote, *do) {
		return exitFailed, fmt.Errorf("gpu: DO=%s: want %s", *do, strings.Join(remote, ", "))
	}
	root, err := repo.Root()
	if err != nil {
		return exitFailed, err
	}
	all, err := rubric.LoadAll(root)
	if err != nil {
		return exitFailed, err
	}
	if _, err := rubric.Find(all, g.task); err != nil {
		return exitFailed, err
	}
	site, found, err := slurm.LoadSite(filepath.Join(root, siteName))
	if err != nil {
		return exitFailed, err
	}
	if !found {
		fmt.Printf("There is no %s, so Slurm's defaults are asked for, with one GPU for %d minutes (out/bin/grader gpu -example >%s writes one to edit; docs/gpu.md)\n", siteName, site.Time, siteName)
	}
	binary, err := os.Executable()
	if err != nil {
		return exitFailed, err
	}
	o := gpujob.Options{Root: root, Grader: binary, Site: site, Tasks: all, Name: *do + g.task, Args: g.args(*do), W: os.Stdout}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends us at once
	r, err := gpujob.Run(ctx, o)
	if err != nil {
		return exitFailed, fmt.Errorf("gpu: %w", err)
	}
	if *do != "grade" || g.only != "" || r.Code == exitFailed {
		return r.Code, nil
	}
	return r.Code, g.bringBack(root, r.Dir)
}

// args are the grader's on the node.
func (g gradeFlags) args(do string) []string {
	args := []string{do, "-device", g.device}
	if g.task != "" {
		args = append(args, "-task", g.task)
	}
	if g.only != "" {
		args = append(args, "-case", g.only)
	}
	if g.solution {
		args = append(args, "-solution")
	}
	return args
}

// bringBack writes the job's results where make grade would have.
func (g gradeFlags) bringBack(root, dir string) error {
	var verdicts []verdict.Verdict
	data, err := os.ReadFile(filepath.Join(dir, "results-full.json"))
	if err == nil {
		err = json.Unmarshal(data, &verdicts)
	}
	if err != nil {
		return fmt.Errorf("gpu: the job's results: %w", err)
	}
	if len(verdicts) == 0 {
		return errors.New("gpu: the job's results are empty")
	}
	g.out = ""
	return g.files(root, verdicts)
}
