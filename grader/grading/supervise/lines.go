package supervise

import (
	"slices"

	"flashlab/device/trace"
)

// newLines is what each line of a kernel did since the earlier report.
func newLines(old, now []trace.LineCounts) []trace.LineCounts {
	fresh := summed(now)
	for at, b := range summed(old) {
		l := fresh[at]
		l.Requests -= b.Requests
		l.Bytes -= b.Bytes
		l.Sectors -= b.Sectors
		l.Passes -= b.Passes
		l.Lanes -= b.Lanes
		fresh[at] = l
	}
	var lines []trace.LineCounts
	for _, l := range now { // in the order of the report
		at := placeOfLine(l)
		if sum := fresh[at]; sum.Requests > 0 {
			lines = append(lines, sum)
			delete(fresh, at)
		}
	}
	return slices.Clip(lines)
}

// placeOfLine is a line's counts without the numbers. The instructions of a line may have several.
func placeOfLine(l trace.LineCounts) trace.LineCounts {
	return trace.LineCounts{File: l.File, Line: l.Line, Op: l.Op, Shared: l.Shared}
}

func summed(all []trace.LineCounts) map[trace.LineCounts]trace.LineCounts {
	sums := map[trace.LineCounts]trace.LineCounts{}
	for _, l := range all {
		at := placeOfLine(l)
		sum, there := sums[at]
		if !there {
			sum = at
		}
		sum.Requests += l.Requests
		sum.Bytes += l.Bytes
		sum.Sectors += l.Sectors
		sum.Passes += l.Passes
		sum.Lanes += l.Lanes
		sums[at] = sum
	}
	return sums
}

// newSteps is the same of steps.
func newSteps(old, now []trace.LineSteps) []trace.LineSteps {
	before := map[trace.LineSteps]trace.LineSteps{}
	for _, l := range old {
		before[trace.LineSteps{File: l.File, Line: l.Line}] = l
	}
	var lines []trace.LineSteps
	for _, l := range now {
		b := before[trace.LineSteps{File: l.File, Line: l.Line}]
		l.Steps, l.Barriers = l.Steps-b.Steps, l.Barriers-b.Barriers
		if l.Steps+l.Barriers > 0 {
			lines = append(lines, l)
		}
	}
	return slices.Clip(lines)
}
