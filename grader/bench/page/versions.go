package page

import (
	"fmt"
	"slices"
	"strings"

	"flashlab/grader/grading/build"
)

// versions has a table of a solution's versions for each workload that they ran.
func (p Part) versions(s *strings.Builder, now current) {
	var ids []string
	for _, v := range p.Versions {
		if !slices.Contains(ids, v.Row.ID) {
			ids = append(ids, v.Row.ID)
		}
	}
	for _, id := range ids {
		p.versionTable(s, now, slices.DeleteFunc(slices.Clone(p.Versions), func(v Version) bool { return v.Row.ID != id }))
	}
}

// versionTable has each version of one workload against the one before, by how each
// compares with the baseline that ran in turns with it.
func (p Part) versionTable(s *strings.Builder, now current, versions []Version) {
	if len(versions) < 2 {
		return
	}
	fmt.Fprintf(s, "\nThe versions of the solution, on %s:\n\n| version | time | rate | × the one before | × the first |\n| --- | --- | --- | --- | --- |\n", versions[0].Row.Name)
	var before, start float64
	for _, v := range versions {
		name := "graded"
		if v.Name != "" {
			name = build.VersionTitle(v.Name)
		}
		if v.Inexact {
			name += ", inexact on purpose"
		}
		name = mark(now.Stale(p.Task, v.Name, v.Row.Kernels)) + name
		if v.Row.Left != "" || len(v.Row.Entries) == 0 || v.Row.Entries[0].Stats.N == 0 || v.Row.Entries[0].Wrong != "" {
			fmt.Fprintf(s, "| %s | not measured | | | |\n", name)
			continue
		}
		e := v.Row.Entries[0]
		rate := v.Row.Bound(p.Test).Rate(v.Row, e.Stats.Median)
		speed := 1 / e.Stats.Median
		if len(v.Row.Entries) > 1 {
			if ratio := v.Row.Ratio(v.Row.Entries[1]); ratio.N > 0 {
				speed = ratio.Median
			}
		}
		gain, all := "", ""
		if before > 0 {
			gain, all = fmt.Sprintf("%.2f", speed/before), fmt.Sprintf("%.2f", speed/start)
		} else {
			start = speed
		}
		before = speed
		fmt.Fprintf(s, "| %s | %s | %s | %s | %s |\n", name, timed(e), rate, gain, all)
	}
}
