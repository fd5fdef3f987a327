package main

import (
	"context"
	"encoding/json"
	"errors"
	"flashlab/grader/tasks/registry"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"

	"flashlab/grader/class/batch"
	"flashlab/grader/class/cluster"
	"flashlab/grader/class/gradebook"
	"flashlab/grader/class/intake"
	"flashlab/grader/edition"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/slurm"
	"flashlab/grader/tasks/rooms"
	"flashlab/internal/repo"
)

// spread has the nodes of a cluster grade the items.
func (b batchFlags) spread(root string, all []*rubric.Task, class gradebook.Class, settings batch.Settings, only []registry.Name, items []intake.Item) (int, error) {
	site, _, err := slurm.LoadSite(filepath.Join(root, siteName))
	if err == nil {
		site, err = slurm.Parse(site, b.slurm)
	}
	if err != nil {
		return exitFailed, err
	}
	tree, err := batch.Fingerprint(root, all)
	if err != nil {
		return exitFailed, err
	}
	if b.out, err = filepath.Abs(b.out); err != nil {
		return exitFailed, err
	}
	for i := range items {
		if items[i].Path, err = filepath.Abs(items[i].Path); err != nil {
			return exitFailed, err
		}
	}
	if err := os.MkdirAll(b.out, 0o755); err != nil {
		return exitFailed, err
	}
	lock, err := batch.Lock(b.out)
	if err != nil {
		return exitFailed, err
	}
	defer lock.Close()
	if err := settings.Save(b.out); err != nil {
		return exitFailed, err
	}
	plan := &batch.Plan{Out: b.out, Tree: tree, Settings: settings, Only: only, Regrade: b.regrade, Device: b.device, Sandbox: b.sandbox, Trust: b.trust}
	if err := plan.Cut(items, all, class.Course.Key()); err != nil {
		return exitFailed, err
	}
	binary, err := os.Executable()
	if err != nil {
		return exitFailed, err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends us at once
	fmt.Printf("Grading %s of %d students on the cluster, by Slurm\n", submissions(len(items)), len(plan.Units))
	sum, err := cluster.Run(ctx, cluster.Options{Plan: plan, Site: site, Root: root, Grader: binary, AtOnce: b.atOnce, W: os.Stdout})
	if errors.Is(err, context.Canceled) {
		return exitFailed, errors.New("interrupted: the jobs are cancelled, and what was graded is kept; the same command goes on from there")
	}
	if err != nil {
		return exitFailed, fmt.Errorf("batch: %w", err)
	}
	fmt.Printf("\n%d students: %d tasks graded now; %d students were graded before; %d array tasks were lost and started again.\n", sum.Units, sum.Graded, sum.Before, sum.Lost)
	if code, err := b.write(class); err != nil {
		return code, err
	}
	if len(sum.Failed) > 0 {
		return exitFailed, fmt.Errorf("%d students could not be graded, by no fault of theirs; start the batch again to try these once more:\n%s", len(sum.Failed), joined(sum.Failed))
	}
	return exitFull, nil
}

// onNode is what a task of the job array runs: it grades one student.
func (b batchFlags) onNode() (int, error) {
	text, err := os.ReadFile(b.part)
	if err != nil {
		return exitFailed, err
	}
	plan := &batch.Plan{}
	if err := json.Unmarshal(text, plan); err != nil {
		return exitFailed, fmt.Errorf("%s: %w", b.part, err)
	}
	unit, err := strconv.Atoi(os.Getenv("SLURM_ARRAY_TASK_ID"))
	if err != nil {
		return exitFailed, errors.New("batch -part: this is what the nodes of a cluster run: SLURM_ARRAY_TASK_ID is not set")
	}
	unit += b.first
	restart := os.Getenv("SLURM_RESTART_COUNT")
	if restart == "" {
		restart = "0"
	}
	// The part's folder is this run's own: a task that is started again has another.
	dir := filepath.Join(filepath.Dir(b.part), "parts", fmt.Sprintf("%s_%d_%s", os.Getenv("SLURM_ARRAY_JOB_ID"), unit-b.first, restart))
	root, err := repo.Root()
	if err != nil {
		return exitFailed, err
	}
	all, err := rubric.LoadAll(root)
	if err != nil {
		return exitFailed, err
	}
	c := classFlags{out: plan.Out, course: plan.Settings.Course, roster: plan.Settings.Roster, canvas: plan.Settings.Canvas}
	class, err := c.class(all, plan.Settings)
	if err != nil {
		return exitFailed, err
	}
	b.device, b.sandbox, b.trust = plan.Device, plan.Sandbox, plan.Trust
	devices, box, close, err := b.machine(root)
	if err != nil {
		return exitFailed, err
	}
	defer close()
	tree, err := batch.Fingerprint(root, all)
	if err != nil {
		return exitFailed, err
	}
	fmt.Printf("Grading on %s (%s); sandbox: %s\n", devices.Name(), devices.Why, box.Name)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err = plan.Part(ctx, batch.Options{Ops: rooms.Ops, Root: root, Course: class.Course, Tasks: all, Devices: devices, Release: edition.Name(root), Tree: tree,
		Watch: batch.NewProgress(io.Discard, false)}, unit, dir)
	if err != nil {
		return exitFailed, fmt.Errorf("batch: %w", err)
	}
	return exitFull, nil
}
