// Package program runs whole CUDA programs in the simulator: their main(), their host code and their kernels.
package program

import (
	"embed"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"flashlab/device/sim"
	"flashlab/device/trace"
)

// CUDA's runtime, for a program's host code: the headers it includes, and what is behind them.
//
//go:embed include runtime
var added embed.FS

// Result is what came of a program.
type Result struct {
	Report trace.Report
	Code   int    // its exit code, if it ended by itself
	Signal string // what ended it otherwise
	Whole  bool   // its last report arrived
}

// Streams are the program's own.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// Program is a program that was built.
type Program struct{ built *sim.Program }

// Build compiles a program, or finds it in the cache.
func Build(o sim.Options, src sim.ProgramSource) (*Program, error) {
	src.Files = slices.Clone(src.Files)
	for i, name := range src.Files {
		path, err := filepath.Abs(name)
		if err != nil {
			return nil, err
		}
		if _, err := os.Stat(path); err != nil {
			return nil, fmt.Errorf("%s: there is no such file", name)
		}
		src.Files[i] = path
	}
	src.Added = added
	p, err := sim.BuildProgram(o, src)
	return &Program{p}, err
}

// notLoaded is the exit code of a process that could not load the program (runtime/hostmain.cpp).
const notLoaded = 125

// ErrNotLoaded is about a program that lacks a part: its process has said which.
var ErrNotLoaded = errors.New("the program cannot be loaded")

// Run runs it to its end; args begin with its name. It calls show with each finding as soon as it is known.
func (p *Program) Run(args []string, s Streams, show func(trace.Finding)) (*Result, error) {
	options, err := os.CreateTemp("", "flashlab-run-*")
	if err != nil {
		return nil, err
	}
	options.Close()
	defer os.Remove(options.Name())
	cmd, err := p.built.Command(options.Name(), args)
	if err != nil {
		return nil, err
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = s.In, s.Out, s.Err
	r, err := run(p.built, cmd, show)
	if err == nil && r.Code == notLoaded && !r.Whole {
		return nil, ErrNotLoaded
	}
	return r, err
}

func run(p *sim.Program, cmd *exec.Cmd, show func(trace.Finding)) (*Result, error) {
	reports, theirs, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer reports.Close()
	answers, ours, err := os.Pipe()
	if err != nil {
		theirs.Close()
		return nil, err
	}
	defer ours.Close()
	cmd.ExtraFiles = []*os.File{theirs, answers}
	err = cmd.Start()
	theirs.Close()
	answers.Close()
	if err != nil {
		return nil, fmt.Errorf("the program does not start: %w", err)
	}
	r := &Result{}
	readErr := r.follow(p, reports, ours, show)
	err = cmd.Wait()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		return nil, err
	}
	if r.Code = cmd.ProcessState.ExitCode(); r.Code < 0 {
		r.Signal = cmd.ProcessState.String()
	}
	return r, readErr
}

const mostReport = 256 << 20 // bytes

// follow reads reports until the process ends, and shows what each has that is new.
func (r *Result) follow(p *sim.Program, reports io.Reader, answer io.Writer, show func(trace.Finding)) error {
	seen := map[string]bool{}
	for {
		var n uint64
		if err := binary.Read(reports, binary.NativeEndian, &n); err != nil {
			return nil // the process has ended
		}
		if n > mostReport {
			return errors.New("the program's report is too long: did the program write to file descriptor 3?")
		}
		text := make([]byte, n)
		if _, err := io.ReadFull(reports, text); err != nil {
			return nil
		}
		report, err := p.Read(text)
		if err != nil {
			return err
		}
		for _, f := range report.Findings {
			if key := f.Kernel + f.Headline(); !seen[key] {
				seen[key] = true
				show(f)
			}
		}
		r.Report, r.Whole = report.Report, report.Last
		if _, err := answer.Write([]byte{1}); err != nil {
			return nil
		}
	}
}
