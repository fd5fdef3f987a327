package sim

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"flashlab/device/trace"
)

// ProgramReport is what the process of a program has told so far.
type ProgramReport struct {
	trace.Report
	Last   bool // there will be no other
	Status int  // the program's exit code, with the last; -1: it ended by a signal
}

// Command is the program's process, ready to start but for its streams: the third file that it inherits takes
// its reports, the fourth gives it a byte for each.
func (p *Program) Command(options string, args []string) (*exec.Cmd, error) {
	emulator, err := p.device.compiler.emulator()
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	line := func(word string, value any) { fmt.Fprintf(&b, "%s %v\n", word, value) }
	line("so", p.Module)
	for word, names := range map[string][]string{"constant": p.About.Constants, "variable": p.About.Variables, "managed": p.About.Managed} {
		for _, name := range names {
			line(word, name)
		}
	}
	o := p.Options
	line("memory", o.Memory)
	line("steps", o.MaxSteps)
	line("timeout", o.Timeout.Milliseconds())
	line("workers", o.Workers)
	line("estimate", o.FLOPs)
	checks := 0
	for i, on := range []bool{o.Checks.Mem, o.Checks.Race, o.Checks.Init, o.Checks.Sync, o.Checks.Traffic} {
		if on {
			checks |= 1 << i
		}
	}
	line("checks", checks)
	if err := os.WriteFile(options, []byte(b.String()), 0o600); err != nil {
		return nil, err
	}
	words := append(append(emulator, p.Process, options), args...)
	return exec.Command(words[0], words[1:]...), nil
}

// hostFinding is what runtime/hostfindings.cpp writes.
type hostFinding struct {
	Kind, Text, Hint, File string
	Line, Count            int
	Fatal, Note            bool
	PC                     *uint64
}

// Read puts a report into words.
func (p *Program) Read(text []byte) (*ProgramReport, error) {
	var raw struct {
		Host   []hostFinding
		Last   bool
		Status int
	}
	if err := json.Unmarshal(text, &raw); err != nil {
		return nil, fmt.Errorf("the program's report: %w", err)
	}
	report, err := p.device.readReport(text)
	if err != nil {
		return nil, err
	}
	r := &ProgramReport{Report: *report, Last: raw.Last, Status: raw.Status}
	for i := range r.Findings {
		ofPrograms(&r.Findings[i])
	}
	for _, f := range raw.Host {
		if found := p.explainHost(f); f.Note {
			r.Notes = append(r.Notes, found)
		} else {
			r.Findings = append(r.Findings, found)
		}
	}
	return r, nil
}

func (p *Program) explainHost(f hostFinding) trace.Finding {
	m := p.device.modules[0]
	found := trace.Finding{Check: "host", Kind: f.Kind, Message: f.Text, Hint: f.Hint, Count: f.Count, Fatal: f.Fatal, Line: f.Line}
	if f.File != "" {
		found.File = f.File[strings.LastIndex(f.File, "/")+1:]
	}
	if f.PC != nil {
		file, at := p.device.place(0, *f.PC)
		found.File, found.Line, found.Column = file, at.line, at.column
	}
	if found.Line > 0 {
		found.Source = m.sourceLine(found.File, found.Line)
	}
	return found
}

var programWords = strings.NewReplacer(
	"device.Launch{Cooperative: true}", "cudaLaunchCooperativeKernel",
	"device.Launch{Shared: …}", "<<<grid, block, bytes>>>",
)

// ofPrograms has a finding speak of CUDA's own words, and not of the course's Go.
func ofPrograms(f *trace.Finding) {
	f.Hint = programWords.Replace(f.Hint)
	f.Message = programWords.Replace(f.Message)
}
