// Package replay does again what a worker's record asks for, on the real inputs, and counts. The record
// is a submission's: reading it, and doing it, is left to a process of its own, in the sandbox where
// there is one. It holds no submission's code, and the grader only reads its answer.
//
// The process is the grader's own program, started anew; Serve is what it does then. The package that
// knows all operations (grader/tasks/rooms) calls it, so every program that can grade can also do this.
package replay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
	"flashlab/grader/grading/wire"
	"flashlab/internal/jail"
	"flashlab/tensor"
)

// asked is set in the environment of that process.
const asked = "FLASHLAB_REPLAY"

// Serve answers, and ends the process, if that is what it was started for.
func Serve(ops judge.Ops) {
	if os.Getenv(asked) == "" {
		return
	}
	if err := serve(os.Stdin, os.Stdout, ops); err != nil {
		fmt.Fprintln(os.Stderr, "replay:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// serve reads a problem and a worker's answer to it, and writes the answer that comes of the record.
func serve(from io.Reader, to io.Writer, ops judge.Ops) error {
	c, in, err := wire.ReadCase(from)
	if err != nil {
		return err
	}
	_, a, err := wire.ReadReply(from, c)
	if err != nil {
		return err
	}
	op, err := ops.Find(c.Op)
	if err != nil {
		return err
	}
	if op.Replay == nil || a == nil {
		return fmt.Errorf("%s has no records", c.Op)
	}
	if err := op.Replay(c, in, a); err != nil {
		return wire.WriteReply(to, wire.Reply{ID: c.ID, Error: &wire.Error{Class: wire.Failed, Text: err.Error()}}, nil)
	}
	return wire.WriteReply(to, wire.Reply{ID: c.ID}, a)
}

// Runner starts such processes.
type Runner struct {
	Dir    string // a folder that a program in the sandbox may reach
	Limit  time.Duration
	Memory int64
	Jail   jail.CommandFunc // nil: as it is

	program string
}

// most is how much a reply may hold besides its tensors.
const most = 1 << 20

// Run does the record of an answer again. What is wrong with the record is a *wire.Error; any other
// error is the grader's own failure.
func (r *Runner) Run(ctx context.Context, c problem.Problem, in []*tensor.Tensor, a *problem.Answer) (*problem.Answer, error) {
	var request bytes.Buffer
	if err := wire.WriteCase(&request, c, in); err != nil {
		return nil, err
	}
	if err := wire.WriteReply(&request, wire.Reply{ID: c.ID}, a); err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, r.Limit)
	defer cancel()
	cmd, err := r.command(limited)
	if err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	reply, words := bounded{room: most}, bounded{room: 4 << 10}
	for _, t := range c.Outputs {
		n := 4
		for _, d := range t.Shape {
			n *= d
		}
		reply.room += n
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = &request, &reply, &words
	cmd.WaitDelay = time.Second
	failure := cmd.Run()
	switch broken := jail.Failed(cmd, string(words.text)); {
	case r.Jail != nil && failure != nil && broken != nil:
		return nil, broken
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case limited.Err() != nil:
		return nil, failed("it took longer than %v", r.Limit)
	case failure != nil && !errors.As(failure, new(*exec.ExitError)):
		return nil, fmt.Errorf("replay: %w", failure)
	case failure != nil:
		return nil, failed("the program that does it broke off (%v)", failure)
	}
	plain := c
	plain.Recorded = false // its tensors come back
	decoded, out, err := wire.ReadReply(bytes.NewReader(reply.text), plain)
	switch {
	case err != nil:
		return nil, failed("its answer cannot be read (%v)", err)
	case decoded.Error != nil:
		return nil, decoded.Error
	}
	return out, nil
}

func failed(form string, args ...any) error {
	return &wire.Error{Class: wire.Failed, Text: "what was asked for cannot be done again: " + fmt.Sprintf(form, args...)}
}

func (r *Runner) command(ctx context.Context) (*exec.Cmd, error) {
	env := []string{asked + "=1"}
	if r.Jail == nil {
		program, err := os.Executable()
		if err != nil {
			return nil, err
		}
		cmd := exec.CommandContext(ctx, program)
		cmd.Env, cmd.Dir = env, r.Dir
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
		return cmd, nil
	}
	if r.program == "" {
		if err := r.place(); err != nil {
			return nil, err
		}
	}
	return r.Jail(ctx, jail.Program{Path: r.program, Env: env, Read: []string{r.program}, CPU: r.Limit, Memory: r.Memory})
}

// place copies this program to where another user of the machine can reach it.
func (r *Runner) place() error {
	from, err := os.Open("/proc/self/exe")
	if err != nil {
		return err
	}
	defer from.Close()
	dir, err := filepath.Abs(r.Dir)
	if err != nil {
		return err
	}
	to, err := os.OpenFile(filepath.Join(dir, "replay"), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o755)
	if err != nil {
		return err
	}
	if _, err := io.Copy(to, from); err != nil {
		to.Close()
		return err
	}
	r.program = to.Name()
	return to.Close()
}

// bounded keeps what is written to it, up to its room.
type bounded struct {
	text []byte
	room int
}

func (b *bounded) Write(p []byte) (int, error) {
	n := min(len(p), b.room-len(b.text))
	b.text = append(b.text, p[:n]...)
	return len(p), nil
}
