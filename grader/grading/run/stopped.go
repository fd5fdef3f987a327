package run

import (
	"slices"

	"flashlab/device/trace"
	"flashlab/grader/grading/supervise"
	"flashlab/grader/grading/verdict"
)

// stopped rules on a case in which a kernel was stopped, by its own trap or by what it did, and whose call ignored
// it: nothing of such a kernel is counted, and on a GPU nothing would work after it.
func stopped(v *verdict.Outcome, seen supervise.Observed) {
	at := slices.IndexFunc(seen.Findings, func(f trace.Finding) bool { return f.Fatal })
	if at < 0 || !v.Passed {
		return
	}
	v.Passed = false
	v.Reason = "kernel " + seen.Findings[at].Kernel +
		" was stopped, and the call returned no error: return what Launch returns"
}
