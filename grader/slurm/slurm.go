// Package slurm starts jobs on a Slurm cluster by its own commands (sbatch, squeue,
// scancel) and watches them. It needs no accounting database and no JSON plugin:
// a job's result files tell whether it did its work.
package slurm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
)

// Missing says which of Slurm's commands are not on the PATH; "" if all are.
func Missing() string {
	var missing []string
	for _, tool := range []string{"sbatch", "squeue", "scancel"} {
		if _, err := exec.LookPath(tool); err != nil {
			missing = append(missing, tool)
		}
	}
	return strings.Join(missing, ", ")
}

// Job is what to run.
type Job struct {
	Name   string
	Dir    string // the working directory, on a file system that the nodes share
	Script string // what bash runs, without the first line
	Output string // file for what it prints; %A and %a are the array's number and the task's
	// Tasks are the indices of a job array; none is a single job.
	Tasks []int
	// AtOnce bounds how many tasks run at the same time; 0 is no bound.
	AtOnce  int
	Requeue bool // start again on another node when its own is lost
}

// Submit hands a job to Slurm and returns its number.
func (s Site) Submit(ctx context.Context, j Job) (string, error) {
	args := []string{"--parsable", "--export=NONE", "--job-name=" + j.Name, "--chdir=" + j.Dir, "--output=" + j.Output, "--open-mode=append"}
	if len(j.Tasks) > 0 {
		array := "--array=" + ranges(j.Tasks)
		if j.AtOnce > 0 {
			array += "%" + strconv.Itoa(j.AtOnce)
		}
		args = append(args, array)
	}
	requeue := "--no-requeue"
	if j.Requeue {
		requeue = "--requeue"
	}
	args = append(append(args, requeue), s.flags()...)
	out, err := command(ctx, "#!/bin/bash\n"+s.prologue()+j.Script, "sbatch", args...)
	if err != nil {
		return "", err
	}
	id, _, _ := strings.Cut(strings.TrimSpace(out), ";") // ";cluster" may follow
	if !number.MatchString(id) {
		return "", fmt.Errorf("sbatch answered %q, want a job's number", out)
	}
	return id, nil
}

var number = regexp.MustCompile(`^\d+$`)

// ranges writes indices in order as 0-3,7.
func ranges(tasks []int) string {
	var parts []string
	for i := 0; i < len(tasks); {
		j := i
		for j+1 < len(tasks) && tasks[j+1] == tasks[j]+1 {
			j++
		}
		part := strconv.Itoa(tasks[i])
		if j > i {
			part += "-" + strconv.Itoa(tasks[j])
		}
		parts = append(parts, part)
		i = j + 1
	}
	return strings.Join(parts, ",")
}

// State is what Slurm says of a job or a task of an array.
type State struct {
	Name   string // PENDING, RUNNING, COMPLETED, FAILED, TIMEOUT, NODE_FAIL, CANCELLED, …
	Reason string // why it waits
}

// Single is the index of a job that is not an array.
const Single = -1

// Over tells whether it will not run any more.
func (s State) Over() bool {
	switch s.Name {
	case "PENDING", "RUNNING", "CONFIGURING", "COMPLETING", "SUSPENDED", "STOPPED", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "RESIZING", "SIGNALING", "SPECIAL_EXIT", "STAGE_OUT":
		return false
	}
	return true
}

// Words is the state in words.
func (s State) Words() string {
	if s.Name == "PENDING" && s.Reason != "" && s.Reason != "None" {
		return "waiting (" + s.Reason + ")"
	}
	switch s.Name {
	case "PENDING":
		return "waiting"
	case "TIMEOUT":
		return "stopped: its time was over (time in site.toml)"
	case "NODE_FAIL":
		return "its node was lost"
	case "OUT_OF_MEMORY":
		return "stopped: it took more memory than it had asked for (memory in site.toml)"
	}
	return strings.ToLower(s.Name)
}

// States asks about a job. Slurm forgets jobs some minutes after their end: those
// are not in the answer.
func States(ctx context.Context, id string) (map[int]State, error) {
	out, err := command(ctx, "", "squeue", "-h", "-r", "-t", "all", "-j", id, "-O", "JobArrayID:40,State:24,Reason:60")
	if err != nil {
		if strings.Contains(err.Error(), "Invalid job id") {
			return map[int]State{}, nil
		}
		return nil, err
	}
	states := map[int]State{}
	for _, line := range strings.Split(out, "\n") {
		f := strings.Fields(line)
		if len(f) < 2 {
			continue
		}
		index := Single
		if _, task, array := strings.Cut(f[0], "_"); array {
			if index, err = strconv.Atoi(task); err != nil {
				continue
			}
		}
		s := State{Name: f[1]}
		if len(f) > 2 {
			s.Reason = strings.Trim(strings.Join(f[2:], " "), "()")
		}
		states[index] = s
	}
	return states, nil
}

// Cancel ends a job with all its tasks.
func Cancel(ctx context.Context, id string) error {
	_, err := command(ctx, "", "scancel", id)
	return err
}

// command runs one of Slurm's commands. They fail now and then while a controller
// restarts; callers that poll try again.
func command(ctx context.Context, input, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stdin = strings.NewReader(input)
	var out, words bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &words
	err := cmd.Run()
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		output := strings.ReplaceAll(strings.TrimSpace(words.String()), name+": error: ", "")
		return "", fmt.Errorf("%s: %s", name, output)
	case err != nil:
		return "", fmt.Errorf("%w: Slurm's commands are on a cluster's login node; elsewhere there is make grade", err)
	}
	return out.String(), nil
}
