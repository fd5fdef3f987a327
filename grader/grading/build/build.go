package build

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"flashlab/grader/grading/gate"
	"flashlab/grader/grading/rubric"
	"flashlab/internal/jail"
)

// Error is a submission that does not build.
type Error struct{ Text string }

func (e *Error) Error() string { return e.Text }

// Request says what to build.
type Request struct {
	Root  string
	Task  *rubric.Task
	Files []gate.File
	Dir   string   // an empty folder for copies and binaries; it must outlive the worker
	Tags  string   // "cuda" for the GPU
	Env   []string // added to the environment: cgo's flags
	// Alone makes a program that is not graded: it has the kernels' texts, and compiles them by itself.
	Alone bool
	// Jail runs the build in a sandbox; nil runs it without one.
	Jail jail.CommandFunc
}

func (r Request) worker() string { return r.Task.Worker() }

// Result is a worker, ready to start.
type Result struct {
	Binary string
	Extra  []string // files of the task's folder that were left out
	Linked bool     // false where an earlier worker was of the same Go
}

// Worker builds the task's worker around the submission. A submission that
// does not build is an *Error, in the student's own file names and lines.
func Worker(ctx context.Context, r Request) (Result, error) {
	dir, err := filepath.Abs(r.Dir)
	if err != nil {
		return Result{}, err
	}
	var stage *Stage
	if r.Jail != nil {
		if stage, err = stageOf(ctx, r.Root, r.Tags, r.Env); err != nil {
			return Result{}, err
		}
	}
	o, extra, err := Submission(r.Root, r.Task, r.Files, dir)
	if err != nil {
		return Result{}, fmt.Errorf("overlay: %w", err)
	}
	if stage != nil {
		o = o.within(r.Root, stage.Root)
	}
	overlay := filepath.Join(dir, "overlay.json")
	if err := o.WriteFile(overlay); err != nil {
		return Result{}, fmt.Errorf("overlay: %w", err)
	}
	name := "worker"
	if r.Tags != "" {
		name = "worker-" + r.Tags
	}
	if r.Alone {
		name += "-alone"
	}
	res := Result{Binary: filepath.Join(dir, name), Extra: extra}
	args := buildArgs(overlay, r.tags(), res.Binary, r.worker())
	kept := r.kept()
	before := begin(kept, res.Binary)
	whole := ctx
	ctx, cancel := context.WithTimeout(ctx, r.Task.Limits.BuildTime())
	defer cancel()
	cmd, err := r.command(ctx, stage, dir, args)
	if err != nil {
		return res, err
	}
	out := head{room: maxOutput}
	cmd.Stdout, cmd.Stderr = &out, &out
	err = cmd.Run()
	switch {
	case err == nil:
		if res.Linked = !modified(res.Binary).Equal(before); res.Linked && kept != "" {
			keep(kept, res.Binary)
		}
		return res, nil
	case ctx.Err() == context.DeadlineExceeded:
		return res, &Error{fmt.Sprintf("the submission did not build within %v", r.Task.Limits.BuildTime())}
	case ctx.Err() != nil:
		return res, ctx.Err()
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return res, fmt.Errorf("go build: %w: is Go installed, and on the PATH?", err)
	}
	if failed := jail.Failed(cmd, out.String()); r.Jail != nil && failed != nil {
		return res, fmt.Errorf("go build: %w", failed)
	}
	root := r.Root
	if stage != nil {
		root = stage.Root
	}
	text, theirs := translate(out.String(), root, dir, r.Files)
	if !theirs && ours(text, func() bool { return stage != nil && stage.builds(whole, r, dir) }) {
		return res, fmt.Errorf("the worker of task %s does not build:\n%s", r.Task.Name, text)
	}
	return res, &Error{text}
}

// ours tells whether a message that names no file of the submission, such as a linker's or a killed
// compiler's, is the grader's own problem: if the worker does not build without the submission either,
// or if the go command never got as far as compiling, say because it could not read its overlay.
func ours(text string, buildsWithout func() bool) bool {
	return strings.HasPrefix(text, "go: ") || !buildsWithout()
}

// tagsOf are a worker's tags. graded leaves the kernels' texts out of it. noasm takes gonum's assembly out: its
// loops check no bounds but by sums that overflow, so a submission could read and write all of its process through them.
func tagsOf(tags string) string { return strings.TrimPrefix(tags+",graded,noasm", ",") }

func (r Request) tags() string {
	if r.Alone {
		return strings.Replace(tagsOf(r.Tags), "graded,", "", 1)
	}
	return tagsOf(r.Tags)
}

// buildArgs are the go command's.
func buildArgs(overlay, tags, binary, worker string) []string {
	args := []string{"build", "-buildvcs=false", "-ldflags=-s -w", "-tags", tags, "-o", binary}
	if overlay != "" {
		args = append(args, "-overlay", overlay)
	}
	return append(args, worker)
}

// cgoFor is on where a driver is linked in, and nowhere else.
func cgoFor(tags string) []string {
	if tags == "" {
		return []string{"CGO_ENABLED=0"}
	}
	return []string{"CGO_ENABLED=1"}
}

// command is the build's, in a sandbox or without one.
func (r Request) command(ctx context.Context, stage *Stage, dir string, args []string) (*exec.Cmd, error) {
	if stage != nil {
		return stage.command(ctx, r, dir, args)
	}
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = r.Root
	// A user's GOFLAGS or workspace must not change what is graded.
	cmd.Env = append(append(append(os.Environ(), "GOFLAGS=", "GOWORK=off"), cgoFor(r.Tags)...), r.Env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	return cmd, nil
}

// maxOutput is how much is kept of what go build says.
const maxOutput = 1 << 20

// head keeps the beginning of what is written to it.
type head struct {
	bytes.Buffer
	room int
}

func (h *head) Write(p []byte) (int, error) {
	keep := min(len(p), h.room)
	h.room -= keep
	h.Buffer.Write(p[:keep])
	return len(p), nil
}

// Bounds on a compiler's output; a linker's command line is one long line.
const (
	maxLines = 12
	maxWidth = 400
)

// translate replaces the copies' paths with the student's own. theirs tells whether
// the output is about the submission at all.
func translate(out, root, dir string, files []gate.File) (text string, theirs bool) {
	rel, err := filepath.Rel(root, dir)
	if err != nil {
		rel = dir
	}
	var pairs []string
	for _, f := range files {
		// The longest spelling first: go build shortens paths where it can.
		for _, d := range []string{dir, rel, ""} {
			pairs = append(pairs, filepath.Join(d, f.Task, f.Name)+":", f.Path+":")
		}
		pairs = append(pairs, "."+string(filepath.Separator)+filepath.Join(rel, f.Task, f.Name)+":", f.Path+":")
	}
	replace := strings.NewReplacer(pairs...)
	var lines []string
	for _, l := range strings.Split(strings.TrimSpace(out), "\n") {
		if strings.HasPrefix(l, "# ") {
			continue
		}
		l = strings.TrimPrefix(l, "./")
		l = replace.Replace(l)
		for _, f := range files {
			theirs = theirs || strings.HasPrefix(l, f.Path+":")
		}
		// What the worker calls and the submission lacks is the submission's.
		theirs = theirs || strings.HasPrefix(l, "grader/tasks/")
		for _, f := range files { // of a linker
			theirs = theirs || strings.Contains(l, " flashlab/"+f.Task+".")
		}
		if len(l) > maxWidth {
			l = l[:maxWidth] + "…"
		}
		lines = append(lines, l)
	}
	if len(lines) > maxLines {
		lines = append(lines[:maxLines], fmt.Sprintf("… and %d more lines", len(lines)-maxLines))
	}
	return strings.Join(lines, "\n"), theirs
}
