package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"flashlab/grader/class/batch"
	"flashlab/grader/class/intake"
	"flashlab/grader/class/record"
	"flashlab/grader/grading/rubric"
	"flashlab/internal/harmless"
)

// Spread cuts the items into the plan's units and grades them while holding the batch's
// folder. courseKey is the key of the class's course.toml.
func Spread(ctx context.Context, o Options, items []intake.Item, tasks []*rubric.Task, courseKey string) (Summary, error) {
	p := o.Plan
	tree, err := batch.FingerprintOf(o.Root, tasks)
	if err != nil {
		return Summary{}, err
	}
	p.Tree = tree.Whole()
	// The nodes start elsewhere.
	if p.Out, err = filepath.Abs(p.Out); err != nil {
		return Summary{}, err
	}
	for i := range items {
		if items[i].Path, err = filepath.Abs(items[i].Path); err != nil {
			return Summary{}, err
		}
	}
	if err := os.MkdirAll(p.Out, 0o755); err != nil {
		return Summary{}, err
	}
	lock, err := batch.Lock(p.Out)
	if err != nil {
		return Summary{}, err
	}
	defer lock.Close()
	if err := p.Settings.Save(p.Out); err != nil {
		return Summary{}, err
	}
	if err := p.Cut(items, tasks, courseKey); err != nil {
		return Summary{}, err
	}
	harmless.Fprintf(o.W, "Grading %s of %s on the cluster, by Slurm\n", batch.Submissions(len(items)), record.Plural(len(p.Units), "student"))
	return Run(ctx, o)
}

// Task is what one task of the job array is to grade.
type Task struct {
	Plan *batch.Plan
	Unit int
	Dir  string // for its records
}

// ThisTask reads the plan and what Slurm says about the task that we are. first is the unit that
// the array's index 0 stands for.
func ThisTask(file string, first int) (t Task, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return t, err
	}
	if err := json.Unmarshal(text, &t.Plan); err != nil {
		return t, fmt.Errorf("%s: %w", file, err)
	}
	index, err := strconv.Atoi(os.Getenv("SLURM_ARRAY_TASK_ID"))
	if err != nil {
		return t, errors.New("batch -part: this is what the nodes of a cluster run: SLURM_ARRAY_TASK_ID is not set")
	}
	t.Unit = first + index
	restart := os.Getenv("SLURM_RESTART_COUNT")
	if restart == "" {
		restart = "0"
	}
	// The folder is this run's own: a task that is started again has another.
	t.Dir = filepath.Join(filepath.Dir(file), "parts", fmt.Sprintf("%s_%d_%s", os.Getenv("SLURM_ARRAY_JOB_ID"), index, restart))
	return t, nil
}
