package sim

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"flashlab/device/trace"
)

// explained is a finding in words, with the fields that show which others say the same.
type explained struct {
	trace.Finding
	variable  string // "kernel::tile"
	otherLine int    // of a race
	reads     bool   // this side of the race reads
	between   bool   // a race between blocks
	also      []int  // other lines of the same file where it shows
	module    *module
}

// fold joins findings that say the same: several instructions of one line, both
// directions of one race, and a read of what another thread had yet to write,
// which a race on the same variable explains. What stopped a kernel comes first.
func fold(all []explained) []trace.Finding {
	slices.SortStableFunc(all, func(a, b explained) int {
		return cmp.Or(compareBool(b.Fatal, a.Fatal), cmp.Compare(a.Kernel, b.Kernel),
			compareBool(b.reads, a.reads), // a read of half-written data is the clearer side
			cmp.Compare(a.Line, b.Line), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Message, b.Message))
	})
	var kept []explained
	for _, f := range all {
		if i := slices.IndexFunc(kept, func(k explained) bool { return k.covers(f) }); i >= 0 {
			if k := &kept[i]; k.Kind == f.Kind {
				k.Count += f.Count
				if f.Line != k.Line && f.Line != k.otherLine && f.File == k.File && !slices.Contains(k.also, f.Line) {
					k.also = append(k.also, f.Line)
				}
			}
			continue
		}
		kept = append(kept, f)
	}
	slices.SortStableFunc(kept, func(a, b explained) int {
		return cmp.Or(compareBool(b.Fatal, a.Fatal), cmp.Compare(a.Kernel, b.Kernel), cmp.Compare(a.Line, b.Line))
	})
	var plain []trace.Finding
	for _, f := range kept {
		if len(f.also) > 0 {
			f.Notes = append(slices.Clone(f.Notes), alsoIn(f.also))
		}
		f.module.plainLines(&f.Finding)
		plain = append(plain, f.Finding)
	}
	return plain
}

// covers tells whether a reader who has seen k learns nothing new from f.
func (k explained) covers(f explained) bool {
	switch {
	case k.Kernel != f.Kernel:
		return false
	case k.Kind == "race" && f.Kind == "race":
		return k.sameVariable(f) && k.between == f.between ||
			k.Line == f.Line && k.otherLine == f.otherLine || k.Line == f.otherLine && k.otherLine == f.Line
	case k.Kind == f.Kind && (k.Kind == "uninitialised" || k.Check == "note") && k.sameVariable(f):
		return true
	case (k.Kind == notWaitedFor || k.Kind == "stale phase") && (f.Kind == notWaitedFor || f.Kind == "race" || f.Kind == k.Kind):
		return k.sameVariable(f)
	case k.Kind == endedBefore && f.Kind == endedBefore:
		return true
	case k.Kind == "race" && f.Kind == "uninitialised":
		return k.sameVariable(f)
	}
	return k.Kind == f.Kind && k.Line == f.Line && k.Kernel != ""
}

// sameVariable tells whether both are about one array: what is missing for one access to it is
// mostly missing for the others, too.
func (k explained) sameVariable(f explained) bool {
	return k.variable == f.variable && !strings.HasSuffix(k.variable, "::")
}

// alsoIn names further lines, a few of them.
func alsoIn(lines []int) string {
	slices.Sort(lines)
	const most = 6
	var names []string
	for _, line := range lines[:min(most, len(lines))] {
		names = append(names, strconv.Itoa(line%headerLines))
	}
	if more := len(lines) - most; more > 0 {
		return fmt.Sprintf("the same in lines %s and %d more", strings.Join(names, ", "), more)
	}
	if len(names) == 1 {
		return "the same in line " + names[0]
	}
	return "the same in lines " + strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
