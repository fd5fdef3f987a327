package sim

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"flashlab/device"
	"flashlab/internal/jail"
)

var (
	diagnosticLine = regexp.MustCompile(`^([^:\s][^:]*):(\d+):(?:(\d+):)? (fatal error|error|warning|note): (.*)$`)
	// cameFrom is how g++ says, before an error in a header, where it comes from.
	cameFrom = regexp.MustCompile(`^(?:([^:\s][^:]*):(\d+):(\d+):\s+required from|\s+inlined from .* at ([^:\s][^:]*):(\d+):(\d+)[:,]$)`)
)

// compileError reads a compiler's output. Our names become those that the student
// wrote, and an error in one of our headers moves to the line that uses it.
func compileError(s moduleSource, output string, cause error) error {
	var ours *jail.Error
	if errors.As(cause, &ours) {
		return fmt.Errorf("compile %s: %w", s.name, cause)
	}
	output = plainWords.Replace(output)
	e := &device.CompileError{File: s.name, Output: output}
	var from row // the student's line that the next error comes from
	for line := range strings.Lines(output) {
		line = strings.TrimRight(line, "\n")
		if m := cameFrom.FindStringSubmatch(line); m != nil {
			if at := place(m[1]+m[4], m[2]+m[5], m[3]+m[6]); s.owns(at.file) {
				from = at
			}
			continue
		}
		m := diagnosticLine.FindStringSubmatch(line)
		if m == nil || m[4] == "warning" {
			continue
		}
		at := place(m[1], m[2], m[3])
		if m[4] == "note" {
			if s.owns(at.file) {
				e.Diagnostics = note(e.Diagnostics, s, at, m[5])
			}
			continue
		}
		switch {
		case at.file == "module.cpp":
			at = row{file: s.name} // the table of kernels: no line of the student's
		case !s.owns(at.file) && from.line > 0:
			at = from
		}
		from = row{}
		if len(e.Diagnostics) == 12 {
			break
		}
		e.Diagnostics = append(e.Diagnostics, device.Diagnostic{File: at.file, Line: at.line, Column: at.column, Severity: "error", Text: friendlier(m[5])})
	}
	if macros := s.inTheWay(output); len(macros) > 0 {
		e.Diagnostics = macros
	}
	e.Diagnostics = once(e.Diagnostics)
	device.Quote(e.Diagnostics, s.name, s.text)
	for name, text := range s.files {
		device.Quote(e.Diagnostics, filepath.Base(name), text)
	}
	if len(e.Diagnostics) == 0 && strings.TrimSpace(output) == "" {
		e.Output = cause.Error()
	}
	if errors.Is(cause, errSlow) {
		return late{e}
	}
	return e
}

// late is of a compiler that did not end in time: the kernel need not be wrong.
type late struct{ *device.CompileError }

func (e late) Unwrap() []error { return []error{e.CompileError, errSlow} }

// once leaves out what was said before, and what the table of kernels makes of an error that has a line.
func once(all []device.Diagnostic) []device.Diagnostic {
	placed := slices.ContainsFunc(all, func(d device.Diagnostic) bool { return d.Line > 0 })
	var kept []device.Diagnostic
	for _, d := range all {
		if !slices.Contains(kept, d) && (d.Line > 0 || !placed) {
			kept = append(kept, d)
		}
	}
	return kept
}

func place(file, line, column string) row {
	at := row{file: filepath.Base(file)}
	at.line, _ = strconv.Atoi(line)
	at.line %= headerLines
	at.column, _ = strconv.Atoi(column)
	return at
}

// note adds what a compiler says of an error. In clang++'s notes an error in a
// header learns where it comes from; other notes about headers mean nothing to a
// student.
func note(all []device.Diagnostic, s moduleSource, at row, text string) []device.Diagnostic {
	if len(all) == 0 {
		return all
	}
	last := &all[len(all)-1]
	if strings.HasPrefix(text, "in instantiation of") {
		if !s.owns(last.File) {
			last.File, last.Line, last.Column = at.file, at.line, at.column
		}
		return all
	}
	return append(all, device.Diagnostic{File: at.file, Line: at.line, Column: at.column, Severity: "note", Text: text})
}

var plainWords = strings.NewReplacer("simt_type_threadIdx", "uint3", "simt_type_blockIdx", "uint3",
	"simt_type_blockDim", "dim3", "simt_type_gridDim", "dim3",
	"simt_threadIdx", "threadIdx", "simt_blockIdx", "blockIdx",
	"simt_blockDim", "blockDim", "simt_gridDim", "gridDim", "simt_printf", "printf")

var (
	missingHeader = regexp.MustCompile(`^'?([\w./+-]+)'?(?:: No such file or directory| file not found)$`)
	// ours: a message that a header of the simulator holds ready.
	ours = regexp.MustCompile(`^(?:static assertion failed(?: due to requirement '.*?')?: |call to .* declared with (?:attribute error|'error' attribute): )"?(.*?)"?$`)
)

// friendlier says in plain words what a compiler cannot.
func friendlier(text string) string {
	if m := ours.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	if m := missingHeader.FindStringSubmatch(text); m != nil {
		return "the simulator has no header " + m[1] + "; of CUDA's it has cuda_fp16.h, cuda_bf16.h, cuda_fp8.h, cuda_fp6.h, cuda_fp4.h, mma.h, cuComplex.h, curand_kernel.h, cuda_pipeline.h, " +
			"cooperative_groups.h with its reduce.h, scan.h and memcpy_async.h, cuda/barrier, cuda/pipeline, cuda/atomic, and math_constants.h"
	}
	return text
}
