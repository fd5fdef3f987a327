package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"flashlab/grader/class/record"
	"flashlab/grader/slurm"
	"flashlab/internal/cache"
	"flashlab/internal/harmless"
)

// job is an array that was submitted: its tasks that have not ended.
type job struct {
	first int               // the unit that is index 0 of the array
	open  map[int]time.Time // and since when Slurm has called them over
	ran   map[int]bool      // those that were seen running
}

// width is how many units an array may span: clusters limit its indices, usually to
// 1000 (MaxArraySize).
const width = 1000

// newJob is a job of units that fit in one width.
func newJob(units []int) *job {
	j := &job{first: units[0] / width * width, open: map[int]time.Time{}, ran: map[int]bool{}}
	for _, unit := range units {
		j.open[unit] = time.Time{}
	}
	return j
}

// send submits the units that are neither done nor under way.
func (r *run) send(ctx context.Context) error {
	var units []int
	for unit := range r.Plan.Units {
		under := slices.ContainsFunc(sortedKeys(r.jobs), func(id string) bool { _, open := r.jobs[id].open[unit]; return open })
		if len(units) > 0 && unit/width > units[0]/width {
			break // of another array: the next round
		}
		if _, failed := r.failed[unit]; !r.done[unit] && !failed && !under {
			units = append(units, unit)
		}
	}
	if len(units) == 0 {
		return nil
	}
	j := newJob(units)
	var indices []int
	for _, unit := range units {
		indices = append(indices, unit-j.first)
	}
	script := fmt.Sprintf("cd %s || { echo 'this node does not see the folder of the course'; exit 3; }\nexec %s batch -part %s -first %d\n",
		slurm.Quote(r.Root), slurm.Quote(r.Grader), slurm.Quote(r.path("plan.json")), j.first)
	id, err := r.Site.Submit(ctx, slurm.Job{Name: "flashlab-batch", Dir: r.Root, Script: script, Output: r.path("logs", "%A_%a.log"), Tasks: indices, AtOnce: r.AtOnce, Requeue: true})
	if err != nil {
		return err
	}
	for _, unit := range units {
		r.sent[unit]++
	}
	r.jobs[id] = j
	harmless.Fprintf(r.W, "Job %s submitted: %s\n", id, record.Plural(len(units), "student"))
	return r.keepJobs()
}

// keepJobs remembers what is running, so that it is found again after a run was killed.
func (r *run) keepJobs() error {
	list := struct {
		Plan string
		Jobs map[string][]int
	}{r.planKey(), map[string][]int{}}
	for id, j := range r.jobs {
		list.Jobs[id] = sortedKeys(j.open)
	}
	text, err := json.Marshal(list)
	if err != nil {
		return err
	}
	return cache.WriteFile(r.path("jobs.json"), text, 0o644)
}

// cancel ends the jobs, and keeps what they had finished.
func (r *run) cancel() error {
	ctx, stop := context.WithTimeout(context.Background(), 20*time.Second)
	defer stop()
	for _, id := range sortedKeys(r.jobs) {
		if err := slurm.Cancel(ctx, id); err != nil {
			return fmt.Errorf("interrupted, but the job %s could not be cancelled (scancel %s): %w", id, id, err)
		}
		delete(r.jobs, id)
	}
	if err := r.collect(); err != nil {
		return err
	}
	return errors.Join(context.Canceled, r.keepJobs())
}
