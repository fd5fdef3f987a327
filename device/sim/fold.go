package sim

import (
	"cmp"
	"slices"

	"flashlab/device/trace"
)

// explained is a finding in words, with the fields that show which others say the same.
type explained struct {
	trace.Finding
	variable  string // "kernel::tile"
	otherLine int    // of a race
	reads     bool   // this side of the race reads
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
			if kept[i].Kind == f.Kind {
				kept[i].Count += f.Count
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
		return k.Line == f.Line && k.otherLine == f.otherLine || k.Line == f.otherLine && k.otherLine == f.Line
	case (k.Kind == notWaitedFor || k.Kind == "stale phase") && (f.Kind == notWaitedFor || f.Kind == "race" || f.Kind == k.Kind):
		return k.variable == f.variable && k.variable != "::"
	case k.Kind == "race" && f.Kind == "uninitialised":
		return k.variable == f.variable && k.variable != "::"
	}
	return k.Kind == f.Kind && k.Line == f.Line && k.Kernel != ""
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
