// Package gpujob runs one of the grader's commands as a short Slurm job, from a
// login node: it sends a copy of the student's files along, shows what the job
// prints as it comes, and cancels the job when the user stops it.
package gpujob

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"flashlab/grader/grading/handin"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/verdict"
	"flashlab/grader/slurm"
)

// Options say what to run.
type Options struct {
	Root   string
	Grader string // the binary
	Site   slurm.Site
	Tasks  []*rubric.Task // whose files are copied
	Name   string         // of the job: "task4"
	// Args are the grader's; the copy's folder and the folder for results are added.
	Args []string
	W    io.Writer
	// Poll is how often Slurm is asked; a second without it.
	Poll time.Duration
}

// Result is a job's result.
type Result struct {
	Dir  string // with log, exit and the result files
	Code int    // the grader's exit code
}

// Run starts the job and stays until it is over. When ctx ends, the job is cancelled.
func Run(ctx context.Context, o Options) (Result, error) {
	if missing := slurm.Missing(); missing != "" {
		return Result{}, fmt.Errorf("there is no Slurm here (%s not found). This is for a cluster's login node; where the machine has its own GPU, make grade finds it", missing)
	}
	if o.Poll == 0 {
		o.Poll = time.Second
	}
	r := Result{Dir: filepath.Join(o.Root, "out", "gpu", time.Now().Format("2006-01-02T150405")+"-"+o.Name)}
	if err := o.copyFiles(filepath.Join(r.Dir, "files")); err != nil {
		return r, err
	}
	log := filepath.Join(r.Dir, "log")
	id, err := o.Site.Submit(ctx, slurm.Job{Name: "flashlab-" + o.Name, Dir: o.Root, Script: o.script(r.Dir), Output: log})
	if err != nil {
		return r, err
	}
	fmt.Fprintf(o.W, "Job %s is submitted, with a copy of your files as they are now: you can go on editing. Ctrl-C cancels it.\n", id)
	f := follower{o: o, id: id, log: log, exit: filepath.Join(r.Dir, "exit")}
	r.Code, err = f.follow(ctx)
	return r, err
}

// Verdicts are what a job that graded has found.
func (r Result) Verdicts() (all []verdict.Verdict, err error) {
	data, err := os.ReadFile(filepath.Join(r.Dir, "results-full.json"))
	if err == nil {
		err = json.Unmarshal(data, &all)
	}
	if err != nil {
		return nil, fmt.Errorf("the job's results: %w", err)
	}
	if len(all) == 0 {
		return nil, errors.New("the job's results are empty")
	}
	return all, nil
}

// copyFiles copies what the student may change: the job may wait for a long time.
func (o Options) copyFiles(to string) error {
	for _, name := range handin.Names(o.Tasks) {
		data, err := os.ReadFile(filepath.Join(o.Root, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue // the job says so, in its own words
		}
		if err != nil {
			return err
		}
		file := filepath.Join(to, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// script leaves the exit code in a file, written whole: this file, not what Slurm
// says, tells that the job has ended. A grader that a signal killed (128 and more)
// leaves none: scancel may end it a moment before this script, which must not take
// that for a result.
func (o Options) script(dir string) string {
	words := []string{slurm.Quote(o.Grader)}
	for _, a := range append(o.Args, "-snapshot", filepath.Join(dir, "files"), "-out", dir) {
		words = append(words, slurm.Quote(a))
	}
	exit := filepath.Join(dir, "exit")
	return fmt.Sprintf(`cd %s || { echo "this node does not see the folder: the course must lie where all nodes find it"; exit 3; }
echo "on $(hostname)"
%s
code=$?
[ $code -lt 128 ] || exit $code
echo $code >%s && mv %s %s
exit $code
`, slurm.Quote(o.Root), strings.Join(words, " "), slurm.Quote(exit+".part"), slurm.Quote(exit+".part"), slurm.Quote(exit))
}

// ErrBrokenOff is a run that its user ended.
var ErrBrokenOff = errors.New("broken off")

// follower watches one job.
type follower struct {
	o         Options
	id        string
	log, exit string
	shown     int64  // bytes of the log
	lastState string // the last word on the queue
}

// patience is how long an exit code may take from the node to here, and how often
// in a row Slurm may fail to answer.
const (
	patience = 20 * time.Second
	failures = 30
)

func (f *follower) follow(ctx context.Context) (int, error) {
	failed := 0
	var overSince time.Time
	var last slurm.State
	for {
		f.copyLog()
		if code, ok := f.code(); ok {
			f.copyLog()
			return code, nil
		}
		states, err := slurm.States(ctx, f.id)
		switch {
		case ctx.Err() != nil:
		case err != nil:
			if failed++; failed == failures {
				return 0, fmt.Errorf("no answer from Slurm any more: %w. The job %s may still be there; scancel %s ends it", err, f.id, f.id)
			}
		default:
			failed = 0
			state, known := states[slurm.Single]
			if known {
				last = state
				f.say(state)
			}
			if known && !state.Over() {
				overSince = time.Time{}
			} else if overSince.IsZero() {
				overSince = time.Now()
			} else if time.Since(overSince) > patience || last.Over() && last.Name != "COMPLETED" && time.Since(overSince) > 2*f.o.Poll {
				return 0, f.noResult(last)
			}
		}
		select {
		case <-ctx.Done():
			return 0, f.cancel()
		case <-time.After(f.o.Poll):
		}
	}
}

// say tells of the queue, once for each change.
func (f *follower) say(s slurm.State) {
	words := s.Words()
	if s.Name == "PENDING" && words != f.lastState {
		fmt.Fprintf(f.o.W, "  %s\n", words)
	}
	f.lastState = words
}

func (f *follower) noResult(s slurm.State) error {
	words := "Slurm no longer lists it"
	if s.Name != "" {
		words = s.Words()
	}
	return fmt.Errorf("the job %s ended without a result: %s. What it printed is in %s", f.id, words, f.log)
}

// copyLog shows what the job has printed since.
func (f *follower) copyLog() {
	file, err := os.Open(f.log)
	if err != nil {
		return // nothing yet
	}
	defer file.Close()
	if _, err := file.Seek(f.shown, io.SeekStart); err != nil {
		return
	}
	n, _ := io.Copy(f.o.W, file)
	f.shown += n
}

func (f *follower) code() (int, bool) {
	data, err := os.ReadFile(f.exit)
	if err != nil {
		return 0, false
	}
	code, err := strconv.Atoi(strings.TrimSpace(string(data)))
	return code, err == nil
}

// cancel ends the job and sees that it is gone.
func (f *follower) cancel() error {
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	if err := slurm.Cancel(ctx, f.id); err != nil {
		return fmt.Errorf("the job %s could not be cancelled (scancel %s does it by hand): %w", f.id, f.id, err)
	}
	for ctx.Err() == nil {
		states, err := slurm.States(ctx, f.id)
		if s, known := states[slurm.Single]; err == nil && (!known || s.Over()) {
			break
		}
		time.Sleep(min(f.o.Poll, 500*time.Millisecond))
	}
	return fmt.Errorf("%w: the job %s is cancelled, and nothing was changed", ErrBrokenOff, f.id)
}
