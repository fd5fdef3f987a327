package supervise

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"flashlab/device"
	"flashlab/grader/grading/problem"
	"flashlab/grader/grading/wire"
	"flashlab/internal/frame"
	"flashlab/internal/jail"
	"flashlab/tensor"
)

// Spec says how to start a worker.
type Spec struct {
	Binary  string
	Args    []string
	Env     []string         // all of its environment
	Output  int              // bytes of its printing that are kept
	Memory  int64            // bytes that it may take; 0 is no limit
	Kernels Kernels          // handed to its device; nil where it has none
	Read    []string         // folders that it reads besides what every program does
	Jail    jail.CommandFunc // runs it in a sandbox; nil: as it is
}

// The greeting may take as long as a case, or this long: during it a process starts,
// perhaps on a busy machine, or a GPU is opened.
const (
	startTime = 10 * time.Second
	startGPU  = 60 * time.Second
)

// usable is a backend that can tell by itself, without a worker, whether its device can be used.
type usable interface{ Usable() error }

// worker is a running worker process.
type worker struct {
	cmd     *exec.Cmd
	cases   net.Conn
	devices net.Conn
	printed *printed
	words   string // that the current case printed
	memory  *watchdog
	kind    device.Kind
	dead    *wire.Error

	waitOnce sync.Once
	waited   error
}

// start runs a worker and greets it. The worker's error is the second result;
// the grader's own the third.
func start(s Spec, b Backend, limit time.Duration) (*worker, *wire.Error, error) {
	cases, theirCases, err := socketPair("cases")
	if err != nil {
		return nil, nil, err
	}
	devices, theirDevices, err := socketPair("device")
	if err != nil {
		cases.Close()
		theirCases.Close()
		return nil, nil, err
	}
	out, theirOut, err := startPrinted(s.Output)
	if err != nil {
		for _, c := range []io.Closer{cases, theirCases, devices, theirDevices} {
			c.Close()
		}
		return nil, nil, err
	}
	w := &worker{cases: cases, devices: devices, printed: out, memory: newWatchdog(s.Memory), kind: b.Kind()}
	if w.cmd, err = s.command(b, w.memory, theirCases, theirDevices); err == nil {
		w.cmd.Stdout, w.cmd.Stderr = theirOut, theirOut
		err = w.cmd.Start()
	}
	theirCases.Close() // or we would not see the worker hang up
	theirDevices.Close()
	theirOut.Close()
	if err != nil {
		out.finish(0)
		w.memory.release()
		cases.Close()
		devices.Close()
		return nil, nil, fmt.Errorf("start the worker: %w", err)
	}
	w.memory.watch(w.cmd.Process.Pid)
	b.Serve(devices, s.Kernels)
	limit = max(limit, startTime)
	if b.Kind() == device.CUDA {
		limit = max(limit, startGPU)
	}
	if failed := w.greet(b, limit); failed != nil {
		w.stop()
		if broken := jail.Failed(w.cmd, w.words); s.Jail != nil && broken != nil {
			return nil, nil, fmt.Errorf("start the worker: %w", broken)
		}
		if failed.Class == wire.Died {
			return nil, failed, nil
		}
		// It says that it cannot open the device. Nothing that a submission's process says is believed: it
		// is the grader's own failure only if the grader sees so by itself.
		if u, is := b.(usable); is {
			if err := u.Usable(); err != nil {
				return nil, nil, fmt.Errorf("the worker: %w; and the device: %w", failed, err)
			}
		}
		return nil, &wire.Error{Class: wire.Died, Text: "the program answered the grader's greeting with an error, though the device is there: " + wire.Cut(failed.Text, 500)}, nil
	}
	return w, nil, nil
}

// command makes the worker's command, in a sandbox or as it is.
func (s Spec) command(b Backend, d *watchdog, files ...*os.File) (*exec.Cmd, error) {
	if s.Jail != nil {
		return s.Jail(context.Background(), jail.Program{Path: s.Binary, Args: s.Args, Env: s.Env, Read: append([]string{s.Binary}, s.Read...),
			Files: files, GPU: b.Kind() == device.CUDA, Groups: d.group.Dirs(), Memory: d.limit})
	}
	cmd := exec.Command(s.Binary, s.Args...)
	cmd.Env = s.Env
	cmd.Dir = filepath.Dir(s.Binary)
	cmd.ExtraFiles = files
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd, nil
}

func (w *worker) greet(b Backend, limit time.Duration) *wire.Error {
	_ = w.cases.SetDeadline(time.Now().Add(limit))
	err := frame.Write(w.cases, wire.Hello{Device: b.Kind()}, nil)
	var reply wire.Reply
	if err == nil {
		reply, _, err = wire.ReadReply(w.cases, problem.Problem{})
	}
	if err != nil {
		return w.die(err, limit)
	}
	return reply.Error
}

// run sends a case and waits for the answer, for limit at most.
func (w *worker) run(ctx context.Context, c problem.Problem, in []*tensor.Tensor, limit time.Duration) (*problem.Answer, *wire.Error) {
	_ = w.cases.SetDeadline(time.Now().Add(limit))
	stop := context.AfterFunc(ctx, func() { _ = w.cases.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if err := wire.WriteCase(w.cases, c.Withhold(w.kind), in); err != nil {
		return nil, w.die(err, limit)
	}
	reply, out, err := wire.ReadReply(w.cases, c)
	if err != nil {
		return nil, w.die(err, limit)
	}
	w.printed.flush()
	w.words = w.printed.take()
	return out, reply.Error
}

// die ends a worker that did not answer as it should, and says what happened.
func (w *worker) die(cause error, limit time.Duration) *wire.Error {
	var timeout net.Error
	late := errors.As(cause, &timeout) && timeout.Timeout()
	alone := false
	if !late {
		alone = w.await(time.Second) // it may be writing its last words
	}
	w.stop()
	w.words = w.printed.take()
	e := &wire.Error{Class: wire.Died}
	switch why := w.memory.why(); {
	case why != "":
		e.Text = why
	case late:
		e.Text = fmt.Sprintf("no answer within %v, so it was stopped: is there an endless loop? (If this machine has much else to do, run it again.)", limit)
	case alone && killed(w.cmd.ProcessState):
		e.Text = "the program was killed from outside, as the system does when memory runs out"
	default:
		e.Text, e.Where = lastWords(w.words, w.cmd.ProcessState, cause)
	}
	w.dead = e
	return e
}

func killed(p *os.ProcessState) bool {
	status, ok := p.Sys().(syscall.WaitStatus)
	const inSandbox = 128 + int(syscall.SIGKILL) // which tells of a signal by its own exit code
	return ok && (status.Signaled() && status.Signal() == syscall.SIGKILL || status.ExitStatus() == inSandbox)
}

// await waits for the process to end on its own, and tells whether it did.
func (w *worker) await(limit time.Duration) bool {
	done := make(chan struct{})
	go func() { w.wait(); close(done) }()
	select {
	case <-done:
		return true
	case <-time.After(limit):
		return false
	}
}

func (w *worker) wait() {
	w.waitOnce.Do(func() {
		w.waited = w.cmd.Wait()
		w.memory.release()
		w.printed.finish(time.Second)
	})
}

// stop ends the process and all its children.
func (w *worker) stop() {
	_ = syscall.Kill(-w.cmd.Process.Pid, syscall.SIGKILL)
	w.wait()
	w.cases.Close()
	w.devices.Close()
}
