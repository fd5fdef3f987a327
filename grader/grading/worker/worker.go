// Package worker is the half of a grading that holds a student's code: a
// separate process, which may crash, hang or print without harm to the grader.
// It reads a case, fills the inputs on the device, calls the student's function
// and sends the output back.
package worker

import (
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"flashlab/device"
	"flashlab/device/remote"
	"flashlab/grader/grading/problem"
	"flashlab/grader/grading/wire"
	"flashlab/internal/frame"
	"flashlab/tensor"
)

// Job is one case with its inputs.
type Job struct {
	problem.Problem
	In []*tensor.Tensor
	// Device is for preparing inputs; student code is given the queue. Both
	// are nil in a task without a device.
	Device device.Device
	Queue  device.Queue
	Counts map[string]uint64 // goes with the output
	Talk   io.ReadWriter     // to the grader, of a case that is timed
}

// Op runs the cases of one operation.
type Op func(j *Job) (*problem.Answer, error)

// Main serves the grader until it hangs up; it is all that a worker's main
// function does.
func Main(ops map[string]Op) {
	work := func() error { return serve(ops) }
	if len(os.Args) > 1 && os.Args[1] == wire.ReplayMode {
		work = func() error { return replay(os.Args[2:], ops) }
	}
	if err := work(); err != nil {
		fmt.Fprintln(os.Stderr, "worker:", err)
		os.Exit(1)
	}
}

func serve(ops map[string]Op) error {
	cases, err := inherited(wire.CasesFD)
	if err != nil {
		return fmt.Errorf("this program is started by the grader: make grade: %w", err)
	}
	devices, err := inherited(wire.DeviceFD)
	if err != nil {
		return err
	}
	go endWithParent(os.Getppid())
	var hello wire.Hello
	if _, err := frame.Read(cases, &hello); err != nil {
		return fmt.Errorf("greeting: %w", err)
	}
	d, err := open(hello.Device, devices)
	if err != nil {
		return wire.WriteReply(cases, wire.Reply{Error: wire.ErrorOf(err)}, nil)
	}
	if d != nil {
		defer d.Close()
	}
	if err := wire.WriteReply(cases, wire.Reply{}, nil); err != nil {
		return err
	}
	return Loop(cases, d, ops)
}

// open reaches the device: the simulator in the grader's hands, or the GPU; nil
// for tasks in plain Go.
func open(kind device.Kind, conn io.ReadWriter) (device.Device, error) {
	switch kind {
	case problem.NoDevice:
		return nil, nil
	case device.CUDA:
		return openCUDA(remote.Cubin(conn))
	}
	return remote.Dial(conn)
}

// Loop answers cases until the grader hangs up.
func Loop(conn io.ReadWriter, d device.Device, ops map[string]Op) error {
	var q device.Queue
	if d != nil {
		q = lendTensors(device.QueueOf(d))
	}
	for {
		c, in, err := wire.ReadCase(conn)
		if err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		j := &Job{Problem: c, In: in, Device: d, Queue: q}
		if c.Timed {
			j.Talk = conn
		}
		out, failed := run(ops, j)
		if c.Timed && failed == nil { // it has all been said
			continue
		}
		if err := wire.WriteReply(conn, wire.Reply{ID: c.ID, Error: failed}, out); err != nil {
			return err
		}
	}
}

// run keeps a panic of student code to its case.
func run(ops map[string]Op, j *Job) (out *problem.Answer, failed *wire.Error) {
	defer func() {
		if p := recover(); p != nil {
			out, failed = nil, panicked(p)
		}
	}()
	op, ok := ops[j.Op]
	if !ok {
		return nil, &wire.Error{Class: wire.Failed, Text: fmt.Sprintf("the worker has no operation %q", j.Op)}
	}
	out, err := op(j)
	if err != nil {
		return nil, wire.ErrorOf(err)
	}
	return out, nil
}

// inherited opens a socket that the grader left at a descriptor. (By package os: package net would be
// a third of what every worker is linked of.)
func inherited(fd int) (*os.File, error) {
	var s syscall.Stat_t
	if err := syscall.Fstat(fd, &s); err != nil || s.Mode&syscall.S_IFMT != syscall.S_IFSOCK {
		return nil, fmt.Errorf("descriptor %d is no socket", fd)
	}
	if err := syscall.SetNonblock(fd, true); err != nil { // who waits for an answer holds no thread
		return nil, err
	}
	syscall.CloseOnExec(fd)
	return os.NewFile(uintptr(fd), fmt.Sprintf("descriptor %d", fd)), nil
}

// endWithParent ends this process when the grader is gone without having said
// so, whatever student code does meanwhile.
func endWithParent(parent int) {
	for os.Getppid() == parent {
		time.Sleep(time.Second)
	}
	os.Exit(1)
}
