package run

import (
	"fmt"
	"strings"

	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
	"flashlab/grader/grading/supervise"
	"flashlab/grader/grading/verdict"
)

// Bounds beyond which a right result is not believed. They are far from what any
// solution does, because a student who is held has to wait for a person.
const (
	leastMoved = 0.8     // of the bytes that any kernel has to move
	few        = 4 << 10 // bytes: lengths and positions may well be read, and the result of a tiny case may need no input
)

// suspect checks whether a right result came from the kernels. The processor can
// also compute the values from copies of the inputs: then the kernels move too
// little, and too much is copied to the host.
func suspect(v *verdict.Outcome, op judge.Op, w problem.Problem, seen supervise.Observed) {
	if !v.Passed || v.Refused || !seen.Measured {
		return
	}
	inputs, outputs, own := judge.Bytes(w.Inputs), judge.Bytes(w.Outputs), copiedAnyway(op, w)
	moved, floor := seen.Moved(), v.Least // by kernels alone
	if op.Floor != nil {
		floor = op.Floor(w)
	}
	switch {
	case float64(moved)+few < leastMoved*float64(floor):
		v.Suspect = "the values are right, but its kernels moved fewer bytes than they must to read the inputs and to write the outputs: were they computed elsewhere?"
		v.Facts = fmt.Sprintf("moved %d bytes in %d launches, where inputs and outputs have %d", moved, seen.Launches(), floor)
	case len(seen.ByAddress) > 0:
		v.Suspect = "the values are right, but the kernels call functions by their address: where such a call leads the simulator cannot follow, so its counts and findings prove nothing"
		v.Facts = "in " + strings.Join(seen.ByAddress, ", ")
	case len(seen.Overfull) > 0:
		v.Suspect = "the values are right, but the simulator could not count or judge all that the kernels did"
		v.Facts = strings.Join(seen.Overfull, "; ")
	case seen.Copied > own+inputs/4+few:
		v.Suspect = "the values are right, but much was copied from the device to the host meanwhile: were they computed there?"
		v.Facts = fmt.Sprintf("copied %d bytes, where the outputs have %d and the inputs %d", seen.Copied, outputs, inputs)
	}
}

// copiedAnyway is what the course's own part of the worker copies to the host.
func copiedAnyway(op judge.Op, w problem.Problem) uint64 {
	return judge.Bytes(w.Outputs) * uint64(max(op.Copies, 1))
}

// byHost is what a submission copied to the host and back: a row that the processor computes is moved as well, and
// costs as much as if a kernel had. Lengths and flags are free.
func byHost(op judge.Op, w problem.Problem, seen supervise.Observed) uint64 {
	put, out := seen.Put, seen.Copied
	if op.Puts != nil {
		put -= min(put, op.Puts(w))
	}
	copied := put + out - min(out, copiedAnyway(op, w))
	return copied - min(copied, few)
}
