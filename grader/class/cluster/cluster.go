// Package cluster has a batch graded by the nodes of a Slurm cluster: one task of a
// job array for each student. The nodes write only to their own folders. The one process
// that holds the batch's folder moves complete results into it. So a task may run twice,
// be lost or be killed, and is still counted once.
package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"flashlab/grader/class/batch"
	"flashlab/grader/class/record"
	"flashlab/grader/slurm"
	"flashlab/internal/cache"
	"flashlab/internal/glob"
	"flashlab/internal/harmless"
)

// Options say what to grade, and where.
type Options struct {
	Plan   *batch.Plan
	Site   slurm.Site
	Root   string // of the course, where all nodes see it
	Grader string // the binary
	AtOnce int    // tasks at a time; 0 is as many as the cluster gives
	W      io.Writer
	// Measured says what an attempt came to.
	Measured batch.Measured
	// Poll is how often Slurm is asked; two seconds without it.
	Poll time.Duration
}

// Summary counts what was done.
type Summary struct {
	Units  int
	Before int // units that were graded already
	Graded int // tasks of the course graded now
	Lost   int // array tasks that were started again
	Failed []string
}

// tries is how often a unit is submitted before it is given up.
const tries = 3

// gone is how long a task may be unknown to Slurm, or over, before its result is
// given up: file systems of clusters take their time.
const gone = 10 * time.Second

// run is a batch under way.
type run struct {
	Options
	dir    string // the batch's folder for this
	sum    Summary
	done   map[int]bool
	failed map[int]string // why a unit could not be graded
	sent   map[int]int    // how often
	jobs   map[string]*job
	down   int // failures of Slurm to answer, in a row
}

// Run grades the plan's units. The caller holds the batch's folder. When ctx ends,
// the jobs are cancelled; complete results are kept.
func Run(ctx context.Context, o Options) (Summary, error) {
	if missing := slurm.Missing(); missing != "" {
		return Summary{}, fmt.Errorf("there is no Slurm here: %s not found", missing)
	}
	if o.Poll == 0 {
		o.Poll = 2 * time.Second
	}
	r := &run{Options: o, dir: filepath.Join(o.Plan.Out, ".slurm"), done: map[int]bool{}, failed: map[int]string{}, sent: map[int]int{}, jobs: map[string]*job{}}
	r.sum.Units = len(o.Plan.Units)
	if err := r.prepare(ctx); err != nil {
		return r.sum, err
	}
	for {
		if err := r.collect(); err != nil {
			return r.sum, err
		}
		if err := r.look(ctx); err != nil && ctx.Err() == nil {
			return r.sum, err
		}
		if ctx.Err() != nil {
			return r.sum, r.cancel()
		}
		if err := r.send(ctx); err != nil && ctx.Err() == nil {
			return r.sum, err
		}
		if len(r.jobs) == 0 && ctx.Err() == nil {
			break
		}
		select {
		case <-ctx.Done():
		case <-time.After(o.Poll):
		}
	}
	for _, unit := range sortedKeys(r.failed) {
		r.sum.Failed = append(r.sum.Failed, o.Plan.Units[unit].Name()+": "+r.failed[unit])
	}
	return r.sum, r.keepJobs()
}

func (r *run) path(parts ...string) string {
	return filepath.Join(append([]string{r.dir}, parts...)...)
}

// prepare writes the plan, and takes up what an earlier run has left: units that
// are graded, and jobs that are still running.
func (r *run) prepare(ctx context.Context) error {
	for _, folder := range []string{"parts", "done", "logs"} {
		if err := os.MkdirAll(r.path(folder), 0o755); err != nil {
			return err
		}
	}
	for unit, u := range r.Plan.Units {
		if _, err := os.Stat(r.path("done", u.Key)); err == nil {
			r.done[unit] = true
			r.sum.Before++
		}
	}
	var old struct {
		Plan string
		Jobs map[string][]int
	}
	if text, err := os.ReadFile(r.path("jobs.json")); err == nil {
		_ = json.Unmarshal(text, &old) // one that cannot be read counts as none
	}
	for id, units := range old.Jobs {
		if old.Plan != r.planKey() {
			_ = slurm.Cancel(ctx, id) // it grades by another plan, or is over
			continue
		}
		if len(units) > 0 {
			r.jobs[id] = newJob(units)
		}
	}
	if len(r.jobs) > 0 {
		harmless.Fprintf(r.W, "Jobs of an earlier run still count: %s\n", strings.Join(sortedKeys(r.jobs), ", "))
	}
	text, err := json.Marshal(r.Plan)
	if err != nil {
		return err
	}
	return record.Durable(r.path("plan.json"), text)
}

// planKey is what jobs depend on: the units' numbers in the plan.
func (r *run) planKey() string {
	var keys []string
	for _, u := range r.Plan.Units {
		keys = append(keys, u.Key)
	}
	return cache.Key(keys...)
}

// collect moves what finished parts have produced into the batch's folder.
func (r *run) collect() error {
	ended, err := glob.In(r.dir, "parts/*/done.json")
	if err != nil {
		return err
	}
	for _, name := range ended {
		dir := filepath.Dir(name)
		d, err := batch.ReadPart(dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		unit := r.Plan.Unit(d.Key)
		if unit < 0 || r.done[unit] { // of another plan, or it ran twice
			if err := os.RemoveAll(dir); err != nil {
				return err
			}
			continue
		}
		records, err := r.Plan.Collect(dir, unit)
		if err != nil {
			return err
		}
		r.close(unit)
		r.sum.Graded += d.Graded
		if len(d.Failed) > 0 {
			r.failed[unit] = strings.Join(d.Failed, "; ")
			continue
		}
		r.done[unit] = true
		delete(r.failed, unit)
		if err := cache.WriteFile(r.path("done", d.Key), nil, 0o644); err != nil {
			return err
		}
		harmless.Fprintf(r.W, "%d/%d  %s: %s (on %s)\n", len(r.done), r.sum.Units, r.Plan.Units[unit].Name(), batch.Outcome(records[len(records)-1], d.Graded, r.Measured), d.Node)
	}
	return nil
}

// close forgets a unit's task in whatever job it ran.
func (r *run) close(unit int) {
	for id, j := range r.jobs {
		delete(j.open, unit)
		if len(j.open) == 0 {
			delete(r.jobs, id)
		}
	}
}

// look asks Slurm about the open tasks. Those that ended without a result must be
// submitted again.
func (r *run) look(ctx context.Context) error {
	for _, id := range sortedKeys(r.jobs) {
		states, err := slurm.States(ctx, id)
		if err != nil {
			if r.down++; r.down > 60 {
				return fmt.Errorf("no answer from Slurm any more: %w; the same command goes on when it does", err)
			}
			return nil // a controller that restarts
		}
		r.down = 0
		j := r.jobs[id]
		for _, unit := range sortedKeys(j.open) {
			s, known := states[unit-j.first]
			since := j.open[unit]
			switch {
			case known && !s.Over():
				j.open[unit] = time.Time{}
				if j.ran[unit] && s.Name == "PENDING" {
					r.sum.Lost++
					harmless.Fprintf(r.W, "%s: its node was lost, or the job was preempted; Slurm restarts it\n", r.Plan.Units[unit].Name())
				}
				j.ran[unit] = s.Name == "RUNNING"
			case since.IsZero():
				j.open[unit] = time.Now()
			case time.Since(since) > gone || known && s.Name != "COMPLETED" && time.Since(since) > 2*r.Poll:
				r.lost(id, unit, s)
			}
		}
	}
	return nil
}

func (r *run) lost(id string, unit int, s slurm.State) {
	why := "Slurm no longer lists it"
	if s.Name != "" {
		why = s.Words()
	}
	index := unit - r.jobs[id].first
	delete(r.jobs[id].open, unit)
	if len(r.jobs[id].open) == 0 {
		delete(r.jobs, id)
	}
	name := r.Plan.Units[unit].Name()
	if r.sent[unit] >= tries {
		r.failed[unit] = fmt.Sprintf("sent %d times without a result, the last time: %s (%s)", tries, why, r.path("logs", fmt.Sprintf("%s_%d.log", id, index)))
		harmless.Fprintf(r.W, "%s: given up: %s\n", name, r.failed[unit])
		return
	}
	r.sum.Lost++
	harmless.Fprintf(r.W, "%s: no result: %s. It is sent again\n", name, why)
}
