package verdict

import (
	"cmp"
	"slices"

	"flashlab/device/trace"
)

// wide is how many passes the four members of a float4 take, which nvcc would read at once.
const wide = 4

// Worst are the lines of kernels that cost most: two at most that moved a tenth of the bytes or more, and
// one whose conflicts are a fifth of all passes of shared memory's banks.
func Worst(counts []trace.Counts) []Line {
	var sectors, passes uint64
	sums := map[Line]Line{} // of all kernels
	for _, c := range counts {
		for _, l := range c.LineCounts {
			at := Line{File: l.File, Line: l.Line, Op: l.Op, Shared: l.Shared}
			sum, there := sums[at]
			if !there {
				sum = at
			}
			sum.Requests += l.Requests
			sum.Bytes += l.Bytes
			sum.Sectors += l.Sectors
			sum.Passes += l.Passes
			sums[at] = sum
			sectors += l.Sectors
			passes += l.Passes
		}
	}
	var moved, conflicts []Line
	for _, l := range sums {
		switch {
		case l.Shared && 5*l.Conflicts() >= passes && l.Way() > wide:
			conflicts = append(conflicts, l)
		case !l.Shared && l.Sectors > 0 && 10*l.Sectors >= sectors:
			moved = append(moved, l)
		}
	}
	by := func(cost func(Line) uint64) func(a, b Line) int {
		return func(a, b Line) int {
			return cmp.Or(cmp.Compare(cost(b), cost(a)), cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Op, b.Op))
		}
	}
	slices.SortFunc(moved, by(func(l Line) uint64 { return l.Sectors }))
	slices.SortFunc(conflicts, by(Line.Conflicts))
	return append(moved[:min(2, len(moved))], conflicts[:min(1, len(conflicts))]...)
}
