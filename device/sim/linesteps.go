package sim

import (
	"cmp"
	"slices"

	"flashlab/device/trace"
)

// lineSteps sums up what threads did in each line: accesses, arrivals at barriers, and basic blocks
// that begin there. Accesses of a thread's own local memory are none.
func (d *Device) lineSteps(raw rawCounts) []trace.LineSteps {
	type place struct {
		file string
		line int
	}
	sums := map[place]trace.LineSteps{}
	add := func(file string, line int, steps, barriers uint64) {
		at := place{file, line}
		s := sums[at]
		sums[at] = trace.LineSteps{File: file, Line: line, Steps: s.Steps + steps, Barriers: s.Barriers + barriers}
	}
	for _, l := range raw.Lines {
		file, at := d.place(l.Module, l.PC)
		add(file, at.line%headerLines, l.Lanes, 0)
	}
	for _, b := range raw.Blocks { // where the hook stands, whose call returns there
		file, at := d.place(int(b[0]), b[1]-1)
		add(file, at.line%headerLines, b[2], 0)
	}
	for _, b := range raw.BarriersAt {
		if m := d.module(int(b[0])); m != nil {
			file, line := fileOf(m.source.Files, m.source.Name, int(b[1]))
			add(file, line, b[3], b[2])
		}
	}
	var lines []trace.LineSteps
	for at, s := range sums {
		if at.line > 0 {
			lines = append(lines, s)
		}
	}
	slices.SortFunc(lines, func(a, b trace.LineSteps) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return lines
}
