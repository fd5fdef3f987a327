// Package grade grades one task: gate, build, cases on one device or two, and
// the verdict.
package grade

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"flashlab/device"
	"flashlab/device/sim"
	"flashlab/grader/build"
	"flashlab/grader/gate"
	"flashlab/grader/host"
	"flashlab/grader/rubric"
	"flashlab/grader/score"
	"flashlab/grader/wire"
)

// Options say what to grade, and on what.
type Options struct {
	Root    string
	Task    *rubric.Task
	Subject Subject
	Devices Devices
	Seed    uint64
	Only    string // "softmax/17x113", "softmax", or "" for all
	Output  string // the folder that programs write to, "out"
	// Progress is told of every case that is done, and how many there are.
	Progress func(done, all int, name string)
}

// Subject is what is graded: a folder's files, maybe edited.
type Subject struct {
	Name       string // "your files", "the reference solution", "the mutant …"
	Dir        string
	Submission string // the folder as the user named it
	Solution   bool
	Mutant     *build.Mutant
}

// Submission is a student's files: the task's own folder, or another.
func Submission(root string, t *rubric.Task, dir string) Subject {
	if dir == "" {
		return Subject{Name: "your files in " + t.Dir, Dir: filepath.Join(root, t.Dir)}
	}
	s := Subject{Name: "the files in " + dir, Dir: dir, Submission: dir}
	if info, err := os.Stat(filepath.Join(dir, t.Dir)); err == nil && info.IsDir() {
		s.Dir = filepath.Join(dir, t.Dir)
	}
	return s
}

// Solution is the reference solution.
func Solution(root string, t *rubric.Task) Subject {
	return Subject{Name: "the reference solution", Dir: filepath.Join(root, t.Dir, "solution"), Solution: true}
}

// Mutant is the reference solution with a known mistake.
func Mutant(root string, t *rubric.Task, m *build.Mutant) Subject {
	s := Solution(root, t)
	s.Name, s.Mutant = "the reference solution, made wrong: "+m.About, m
	return s
}

// Task grades. The error is the grader's own failure; what is wrong with a
// submission stands in the verdict.
func Task(ctx context.Context, o Options) (score.Verdict, error) {
	t := o.Task
	v := score.Verdict{Task: t.Number, Dir: t.Dir, Title: t.Title, Subject: o.Subject.Name, Device: o.deviceName(), Seed: o.Seed, Again: o.again(""),
		One: strings.Contains(o.Only, "/"), Shown: inWords(o.Devices.Show)}
	if missing := t.MissingFiles(o.Root); len(missing) > 0 {
		return v, fmt.Errorf("%s names %s, which the tree lacks", filepath.Join(t.Dir, "rubric.toml"), missing[0])
	}
	files, err := o.files()
	var refused *gate.Error
	if errors.As(err, &refused) {
		return score.Refuse(v, t, refused.Error()), nil
	}
	if err != nil {
		return v, err
	}
	dir, err := o.buildDir()
	if err != nil {
		return v, err
	}
	defer os.RemoveAll(dir)

	s, err := o.plan()
	if err != nil {
		return v, err
	}
	err = o.measure(ctx, files, dir, s, &v)
	var broken *build.Error
	if errors.As(err, &broken) {
		return score.Refuse(v, t, broken.Error()), nil
	}
	return v, err
}

func (o Options) deviceName() string {
	if !o.Task.OnDevice() {
		return "this machine's processor"
	}
	return o.Devices.Name()
}

// files reads the subject's files through the gate; a mutant's pass it once
// more.
func (o Options) files() ([]gate.File, error) {
	files, err := gate.Read(o.Subject.Dir, o.Task.Package, o.Task.Files)
	if err != nil || o.Subject.Mutant == nil {
		return files, err
	}
	if files, err = o.Subject.Mutant.Apply(files); err != nil {
		return nil, err
	}
	var refused []gate.Refusal
	for _, f := range files {
		refused = append(refused, gate.Check(f, o.Task.Package)...)
	}
	if len(refused) > 0 {
		return nil, &gate.Error{Refusals: refused}
	}
	return files, nil
}

// measure builds for each device, runs the cases there, and scores.
func (o Options) measure(ctx context.Context, files []gate.File, dir string, s plan, v *score.Verdict) error {
	var warnings []string
	measured := make([]score.Measured, len(s.checks))
	passes := o.Devices.passes()
	if !o.Task.OnDevice() {
		passes = []pass{{kind: wire.NoDevice, open: func(rubric.Limits) (host.Backend, error) { return host.None{}, nil }}}
	}
	v.Versions = fmt.Sprintf("%s, %s/%s, %d processors", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	all := s.cases() * len(passes)
	done := 0
	for _, p := range passes {
		res, err := build.Worker(ctx, build.Request{Root: o.Root, Task: o.Task, Files: files, Dir: dir, Tags: p.tags, Env: p.buildEnv})
		var broken *build.Error
		if err != nil && p.kind == device.CUDA && !errors.As(err, &broken) {
			return fmt.Errorf("%w\nDEVICE=sim grades in the simulator, without the GPU", err)
		}
		if err != nil {
			return err
		}
		warnings = nil // the same for each device
		for _, extra := range res.Extra {
			warnings = append(warnings, fmt.Sprintf("%s is left out: only %s are graded", extra, strings.Join(o.Task.Files, " and ")))
		}
		backend, err := p.open(o.Task.Limits)
		if err != nil {
			return err
		}
		if tool := p.tool(backend); tool != "" {
			v.Versions += "; " + tool
		}
		runs, err := o.run(ctx, s, backend, host.Spec{Binary: res.Binary, Env: p.runEnv, Output: o.Task.Limits.Output, Memory: o.Task.Limits.MemoryBytes()}, func(name string) {
			if done++; o.Progress != nil {
				o.Progress(done, all, name)
			}
		})
		if closed := backend.Close(); err == nil {
			err = closed
		}
		if err != nil {
			return err
		}
		for i := range runs {
			m := &measured[i]
			if m.Runs == nil {
				m.Runs = runs[i] // the first device decides on correctness
			}
			m.NoSim = o.Devices.NoSim
			m.Speed, m.NeedsGPU = "needs a GPU", true
			if o.Devices.Kind == device.CUDA {
				m.Speed, m.NeedsGPU = "the course does not time kernels yet", false
			}
			if p.kind != device.CUDA { // or the worker itself counted
				m.Sim = runs[i]
			}
		}
	}
	var checks []score.Check
	var found []score.Found
	for i, m := range measured {
		warnings = append(warnings, disagreement(s.checks[i].ID, m)...)
		m.Known = found
		c := score.Score(o.Task, s.checks[i], m)
		found = append(found, c.Findings...)
		for i, f := range c.Findings {
			if f.Case != "" && f.Thread != nil {
				c.Findings[i].Again = o.againAt(c.ID+"/"+f.Case, sim.Show{Thread: f.Thread, Block: f.Block})
			}
		}
		checks = append(checks, c)
	}
	v.Checks, v.Warnings = checks, warnings
	return nil
}

// disagreement names cases that came out right on the GPU and wrong in the
// simulator, or the other way round.
func disagreement(check string, m score.Measured) []string {
	var names []string
	for i, r := range m.Runs {
		if i < len(m.Sim) && m.Sim[i].Case.Passed != r.Case.Passed {
			names = append(names, check+"/"+r.Case.Name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("right on one of GPU and simulator, and wrong on the other (does it depend on the order in which threads run?): %s", strings.Join(names, ", "))}
}
