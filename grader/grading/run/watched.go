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
	Kernels []string          // those that count; all that are launched without it
	cases   []problem.Problem
}

// Watch builds the worker and writes the cases that pick takes of each check.
func Watch(ctx context.Context, o Options, pick func([]rubric.Case) []rubric.Case) (*Watched, error) {
	return watch(ctx, o, func(w *Watched, file io.Writer) error { return w.write(file, o, pick) })
}

// WatchTimed builds the worker, and writes one run of a workload as it is timed. Kernels that
// fill its inputs and the cache run as well, so the submission's own are named.
func WatchTimed(ctx context.Context, o Options, name string, c problem.Problem) (*Watched, error) {
	w, err := watch(ctx, o, func(w *Watched, file io.Writer) error {
		c.ID, c.Timed = 1, true
		w.cases, w.Names = []problem.Problem{c}, []string{name}
		return errors.Join(frame.Write(file, c, nil), frame.Write(file, wire.Turn{Who: wire.Ours, Seed: o.Seed}, nil),
			frame.Write(file, wire.Turn{End: true}, nil))
	})
	if err != nil {
		return nil, err
	}
	for _, text := range w.Files {
		for _, k := range device.ScanKernels(string(text)) {
			w.Kernels = append(w.Kernels, k.Name)
		}
	}
	slices.Sort(w.Kernels)
	return w, nil
}

func watch(ctx context.Context, o Options, write func(*Watched, io.Writer) error) (*Watched, error) {
	if o.Devices.Kind != device.CUDA {
		return nil, errors.New("this needs a GPU and nvcc")
	}
	s, err := o.prepare()
	if err != nil {
		return nil, notRun(err)
	}
	w := &Watched{Dir: s.dir, Files: map[string][]byte{}}
	built, err := s.alone(ctx, o.Devices.passes()[0])
	if err == nil {
		err = w.file(write)
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

// file is where the worker reads its cases.
func (w *Watched) file(write func(*Watched, io.Writer) error) error {
	file, err := os.Create(w.path("cases"))
	if err != nil {
		return err
	}
	defer file.Close()
	if err := frame.Write(file, wire.Hello{Device: device.CUDA}, nil); err != nil {
		return err
	}
	if err := write(w, file); err != nil {
		return err
	}
	return file.Close()
}

func (w *Watched) write(file io.Writer, o Options, pick func([]rubric.Case) []rubric.Case) error {
	s, err := o.Plan()
	if err != nil {
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
	return nil
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
		reply, err := readReply(file, c)
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

// readReply reads what the worker said of a case; of one that is timed, of its only run.
func readReply(file io.Reader, c problem.Problem) (wire.Reply, error) {
	if !c.Timed {
		reply, _, err := wire.ReadReply(file, c)
		return reply, err
	}
	var ready wire.Ready
	if _, err := frame.Read(file, &ready); err != nil || ready.Error != nil {
		return wire.Reply{Error: ready.Error}, err
	}
	var took wire.Took
	_, err := frame.Read(file, &took)
	return wire.Reply{Error: took.Error}, err
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
