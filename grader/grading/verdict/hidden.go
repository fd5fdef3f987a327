package verdict

import "flashlab/device/trace"

// Hidden tells that only a hidden case shows the finding.
func (f Found) Hidden() bool { return f.Case == "" }

// ForStudents is the finding as its author may read it: of one that only a hidden case shows the place and
// the kind, for the buffers' names and sizes, the threads and the counts would tell what that case is.
func (f Found) ForStudents() Found {
	if !f.Hidden() {
		return f
	}
	kind := f.Kind
	if kind == "" {
		kind = f.Check
	}
	return Found{Finding: trace.Finding{Check: f.Check, Kind: f.Kind, Kernel: f.Kernel, File: f.File, Line: f.Line, Column: f.Column, Source: f.Source,
		Message: kind + ", in a hidden case", Fatal: f.Fatal}}
}
