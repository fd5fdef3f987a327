package instructor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"flashlab/grader/class/batch"
	"flashlab/grader/class/cluster"
	"flashlab/grader/class/folder"
	"flashlab/grader/class/intake"
	"flashlab/grader/class/record"
	"flashlab/grader/command"
	"flashlab/grader/slurm"
	"flashlab/grader/tasks/registry"
	"flashlab/internal/harmless"
	"flashlab/internal/repo"
)

// spread has the nodes of a cluster grade the items.
func (b grading) spread(c opened, only []registry.Name, items []intake.Item) (int, error) {
	site, _, err := slurm.LoadSite(filepath.Join(c.root, slurm.SiteName))
	if err == nil {
		site, err = slurm.Parse(site, b.slurm)
	}
	if err != nil {
		return command.Failed, err
	}
	binary, err := os.Executable()
	if err != nil {
		return command.Failed, err
	}
	ctx, stop := command.Interruptible()
	defer stop()
	plan := &batch.Plan{Out: b.Out, Settings: c.settings, Only: only, Regrade: b.regrade, Device: b.device, Sandbox: b.sandbox, Trust: b.trust}
	sum, err := cluster.Spread(ctx, cluster.Options{Plan: plan, Site: site, Root: c.root, Grader: binary, AtOnce: b.atOnce, W: os.Stdout, Measured: c.class.Measured}, items, c.all, c.class.Course.Key()+c.class.Course.Variant)
	if errors.Is(err, context.Canceled) {
		return command.Failed, errors.New("interrupted: the jobs are cancelled, and what was graded is kept; the same command goes on from there")
	}
	if err != nil {
		return command.Failed, fmt.Errorf("batch: %w", err)
	}
	harmless.Printf("\n%s: %s graded now; graded before: %s; lost and started again: %s.\n", record.Plural(sum.Units, "student"), record.Plural(sum.Graded, "task"), record.Plural(sum.Before, "student"), record.Plural(sum.Lost, "array task"))
	b.Out = plan.Out
	if err := b.Write(c.class); err != nil {
		return command.Failed, err
	}
	if len(sum.Failed) > 0 {
		return command.Failed, fmt.Errorf("%s could not be graded, through no fault of theirs; start the batch again to try these once more:\n%s", record.Plural(len(sum.Failed), "student"), strings.Join(sum.Failed, "\n"))
	}
	return command.Full, nil
}

// onNode is what a task of the job array runs: it grades one student.
func (b grading) onNode() (int, error) {
	task, err := cluster.ThisTask(b.part, b.first)
	if err != nil {
		return command.Failed, err
	}
	plan := task.Plan
	c := opened{settings: plan.Settings}
	if c.root, err = repo.Root(); err != nil {
		return command.Failed, err
	}
	if c.all, err = folder.Rubrics(c.root, plan.Settings.Course); err != nil {
		return command.Failed, err
	}
	tables := folder.Folder{Out: plan.Out, Course: plan.Settings.Course, Roster: plan.Settings.Roster, Canvas: plan.Settings.Canvas, Moodle: plan.Settings.Moodle}
	if c.class, err = tables.Class(c.all, plan.Settings); err != nil {
		return command.Failed, err
	}
	o, close, err := machine{plan.Device, plan.Sandbox, plan.Trust}.prepare(c)
	if err != nil {
		return command.Failed, err
	}
	defer close()
	harmless.Printf("Grading on %s (%s); sandbox: %s\n", o.Devices.Name(), o.Devices.Why, o.Settings.Sandbox.Name)
	ctx, stop := command.Interruptible()
	defer stop()
	o.Watch = batch.NewProgress(io.Discard, false, c.class.Measured)
	if err := plan.Part(ctx, o, task.Unit, task.Dir); err != nil {
		return command.Failed, fmt.Errorf("batch: %w", err)
	}
	return command.Full, nil
}
