package run

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"

	"flashlab/device"
	"flashlab/grader/grading/problem"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/wire"
	"flashlab/internal/frame"
)

// Watched is a worker that takes its cases from a file, so that a tool of CUDA's
// (ncu, compute-sanitizer) can start it and look on.
type Watched struct {
	Dir     string   // for what the tool writes
	Command []string // the worker and its arguments
	Env     []string
	Files   map[string][]byte // the kernel files by name, for source lines
	Names   []string          // of the cases, in order: "softmax/17x113"
	cases   []problem.Problem
}

// Watch builds the worker and writes the cases that pick takes of each check.
func Watch(ctx context.Context, o Options, pick func([]rubric.Case) []rubric.Case) (*Watched, error) {
	if o.Devices.Kind != device.CUDA {
		return nil, errors.New("this needs a GPU and nvcc")
	}
	s, err := o.prepare()
	if err != nil {
		return nil, notRun(err)
	}
	w := &Watched{Dir: s.dir, Files: map[string][]byte{}}
	built, err := s.build(ctx, o.Devices.passes()[0])
	if err == nil {
		err = w.write(o, pick)
	}
	if err != nil {
		w.Close()
		return nil, err
	}
	w.Command = []string{built.Binary, wire.ReplayMode, w.path("cases"), w.path("replies")}
	w.Env = os.Environ()
	for _, f := range s.files {
		if ext := filepath.Ext(f.Name); ext == ".cu" || ext == ".cuh" {
			w.Files[f.Name] = f.Data
		}
	}
	return w, nil
}

func (w *Watched) path(name string) string { return filepath.Join(w.Dir, name) }

// Close removes what was built.
func (w *Watched) Close() { _ = os.RemoveAll(w.Dir) }

func (w *Watched) write(o Options, pick func([]rubric.Case) []rubric.Case) error {
	s, err := o.Plan()
	if err != nil {
		return err
	}
	file, err := os.Create(w.path("cases"))
	if err != nil {
		return err
	}
	defer file.Close()
	if err := frame.Write(file, wire.Hello{Device: device.CUDA}, nil); err != nil {
		return err
	}
	for _, c := range s.Checks {
		op, err := o.Ops.Find(c.Op)
		if err != nil {
			return err
		}
		cases := slices.DeleteFunc(slices.Clone(c.Cases), func(k rubric.Case) bool { return k.Refused })
		for _, k := range pick(cases) {
			one, err := o.WireCase(op, c, k, len(w.cases)+1)
			if err != nil {
				return err
			}
			in, err := op.Inputs(one)
			if err != nil {
				return err
			}
			if err := wire.WriteCase(file, one, in); err != nil {
				return err
			}
			w.cases, w.Names = append(w.cases, one), append(w.Names, c.ID+"/"+k.Name)
		}
	}
	if len(w.cases) == 0 {
		return errors.New("there is no case to run")
	}
	return file.Close()
}

// Errors tells what came of the cases, by name: nil of one that returned. Those
// that are not in it were never answered.
func (w *Watched) Errors() (map[string]*wire.Error, error) {
	file, err := os.Open(w.path("replies"))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	came := map[string]*wire.Error{}
	for i, c := range w.cases {
		reply, _, err := wire.ReadReply(file, c)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			break
		}
		if err != nil {
			return came, err
		}
		came[w.Names[i]] = reply.Error
	}
	return came, nil
}

// Elements is how many numbers a case's shape has room for, to tell large cases from
// small ones.
func Elements(k rubric.Case) int {
	n := 1
	for _, d := range k.Shape {
		n *= max(d, 1)
	}
	return n
}
