package sim

import (
	"errors"

	"flashlab/device"
	"flashlab/device/sim/hostside"
)

// askedFor is the file that compilers name for the table's rows of templates; a row's line there is its
// place among the entries, from 1.
const askedFor = "asked_for"

// blameAsked says of the templates that a source asks for, and that do not compile, what is wrong with them:
// a compiler's own words are about the table of kernels, which nobody knows.
func (s moduleSource) blameAsked(err error, r stripped, all []entry) error {
	var e *device.CompileError
	if !errors.As(err, &e) {
		return err
	}
	reported := map[int]bool{}
	var kept []device.Diagnostic
	for _, d := range e.Diagnostics {
		if d.File == askedFor && d.Line >= 1 && d.Line <= len(all) {
			if d.Severity != "error" || reported[d.Line] {
				continue
			}
			reported[d.Line] = true
			name := all[d.Line-1].Signature.Name
			d = device.Diagnostic{File: s.name, Line: s.lineOf(r, hostside.Base(name)), Severity: "error", Text: hostside.Misfit(r.Kernels, name, d.Text)}
		}
		kept = append(kept, d)
	}
	e.Diagnostics = kept
	device.Quote(e.Diagnostics, s.name, s.text)
	return err
}

// lineOf is where the file has the first kernel of a name, or 0.
func (s moduleSource) lineOf(r stripped, name string) int {
	for _, k := range hostside.Named(r.Kernels, name) {
		if at := r.where(k.At); at.file == s.name {
			return at.line
		}
	}
	return 0
}
