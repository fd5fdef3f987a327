package sim

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"flashlab/device/protocol"
)

// Report is what the simulator saw since Start or the last Reset.
type Report struct {
	Findings []Finding
	Launches []Counts
}

// Finding is one defect in a kernel, repeats folded.
type Finding struct {
	Check   string // "memcheck", "racecheck", "initcheck", "synccheck", "limits"
	Kind    string // "race", "out of bounds", "uninitialised", …
	Kernel  string
	File    string
	Line    int // 0 where there is none
	Column  int
	Source  string // that line's text
	Message string
	Notes   []string
	Hint    string
	Thread  *[3]int // the first that did it; nil where no thread is meant
	Block   *[3]int
	Count   int  // how often
	Fatal   bool // the kernel was stopped

	// For folding.
	variable  string // "kernel::tile"
	otherLine int    // of a race
	reads     bool   // this side of the race reads
}

// Headline is the finding in one line.
func (f Finding) Headline() string {
	if f.Line == 0 {
		return f.Message
	}
	if f.Column == 0 {
		return fmt.Sprintf("%s:%d: %s", f.File, f.Line, f.Message)
	}
	return fmt.Sprintf("%s:%d:%d: %s", f.File, f.Line, f.Column, f.Message)
}

// String is the whole message, as compilers write theirs.
func (f Finding) String() string {
	var b strings.Builder
	b.WriteString(f.Headline())
	if f.Source != "" {
		fmt.Fprintf(&b, "\n  %4d | %s", f.Line, strings.ReplaceAll(f.Source, "\t", " "))
		if f.Column > 0 && f.Column <= len(f.Source)+1 {
			fmt.Fprintf(&b, "\n       | %s^", strings.Repeat(" ", f.Column-1))
		}
	}
	for _, note := range f.Notes {
		b.WriteString("\n    " + note)
	}
	if f.Count > 1 {
		fmt.Fprintf(&b, "\n    seen %d times", f.Count)
	}
	if f.Hint != "" {
		b.WriteString("\n    hint: " + f.Hint)
	}
	return b.String()
}

// Counts is the work of one kernel, summed over its launches.
type Counts struct {
	Kernel                       string
	Launches                     int
	GlobalRead, GlobalWritten    uint64 // bytes that threads asked for
	SectorsRead, SectorsWritten  uint64 // 32-byte sectors moved for them
	SharedRead, SharedWritten    uint64 // bytes
	SharedRequests, SharedPasses uint64 // warp requests, and passes of the banks they took
	Barriers, Steps              uint64
	LongestBlock                 uint64 // steps of each launch's longest block
	GlobalRequests               uint64 // warp requests
	DeviceRead, DeviceWritten    uint64 // bytes from and to device memory, by the model in README.md
	FLOPs                        uint64 // floating-point operations; a fused multiply-add is two
	LineCounts                   []LineCounts
}

const sectorBytes = 32

// LineCounts is the part of Counts that one source line caused.
type LineCounts struct {
	File                     string
	Line                     int
	Op                       string // "read", "write", "atomic"
	Shared                   bool
	Requests, Bytes, Sectors uint64
	Passes                   uint64
}

// What runtime/findings.cpp and runtime/traffic.cpp write.
type rawReport struct {
	Findings []rawFinding
	Kernels  []rawCounts
}

type rawFinding struct {
	Check, Kind, Kernel      string
	Count                    int
	Fatal                    bool
	Module                   int
	Thread, Block            [3]int
	PC, OtherPC              uint64
	Line, Column, OtherLine  int
	Op, OtherOp              string
	Bytes, Offset, Size      int64
	Space, Name, Owner, Note string
	OtherThread, OtherBlock  [3]int
	BlocksDiffer             bool
	Text                     string
}

type rawCounts struct {
	Kernel            string
	Launches          int
	Barriers          uint64
	Steps             uint64
	LongestBlock      uint64
	Fetched, SentBack uint64
	Blocks            [][3]uint64 // module, return address of the block's hook, runs
	Lines             []struct {
		Module                               int
		PC                                   uint64
		Op                                   string
		Shared                               bool
		Requests, Bytes, Sectors, Wavefronts uint64
	}
}

// Report collects what has been found and counted.
func (d *Device) Report() (*Report, error) {
	var answer protocol.Data
	if err := d.ask(protocol.New(protocol.OpReport), nil, &answer); err != nil {
		return nil, err
	}
	r := &Report{}
	var raw rawReport
	if err := json.Unmarshal(answer, &raw); err != nil {
		return nil, fmt.Errorf("the simulator's report: %w", err)
	}
	for _, f := range raw.Findings {
		r.Findings = append(r.Findings, d.explain(f))
	}
	r.Findings = fold(r.Findings)
	for _, c := range raw.Kernels {
		r.Launches = append(r.Launches, d.sum(c))
	}
	return r, nil
}

// fold joins findings that say the same: several instructions of one line, both
// directions of one race, and a read of what another thread had yet to write,
// which a race on the same variable explains. What stopped a kernel comes first.
func fold(all []Finding) []Finding {
	slices.SortStableFunc(all, func(a, b Finding) int {
		return cmp.Or(compareBool(b.Fatal, a.Fatal), cmp.Compare(a.Kernel, b.Kernel),
			compareBool(b.reads, a.reads), // a read of half-written data is the clearer side
			cmp.Compare(a.Line, b.Line), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Message, b.Message))
	})
	var kept []Finding
	for _, f := range all {
		if i := slices.IndexFunc(kept, func(k Finding) bool { return k.covers(f) }); i >= 0 {
			if kept[i].Kind == f.Kind {
				kept[i].Count += f.Count
			}
			continue
		}
		kept = append(kept, f)
	}
	slices.SortStableFunc(kept, func(a, b Finding) int {
		return cmp.Or(compareBool(b.Fatal, a.Fatal), cmp.Compare(a.Kernel, b.Kernel), cmp.Compare(a.Line, b.Line))
	})
	return kept
}

// covers tells whether a reader who has seen k learns nothing from f.
func (k Finding) covers(f Finding) bool {
	switch {
	case k.Kernel != f.Kernel:
		return false
	case k.Kind == "race" && f.Kind == "race":
		return k.Line == f.Line && k.otherLine == f.otherLine || k.Line == f.otherLine && k.otherLine == f.Line
	case k.Kind == notWaitedFor && (f.Kind == notWaitedFor || f.Kind == "race"):
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

func (d *Device) sum(raw rawCounts) Counts {
	c := Counts{Kernel: raw.Kernel, Launches: raw.Launches, Barriers: raw.Barriers, Steps: raw.Steps, LongestBlock: raw.LongestBlock,
		DeviceRead: raw.Fetched * sectorBytes, DeviceWritten: raw.SentBack * sectorBytes}
	for _, l := range raw.Lines {
		read := l.Op == "read"
		switch {
		case l.Shared && read:
			c.SharedRead += l.Bytes
		case l.Shared:
			c.SharedWritten += l.Bytes
		case read:
			c.GlobalRead, c.SectorsRead = c.GlobalRead+l.Bytes, c.SectorsRead+l.Sectors
		default:
			c.GlobalWritten, c.SectorsWritten = c.GlobalWritten+l.Bytes, c.SectorsWritten+l.Sectors
		}
		if l.Shared {
			c.SharedRequests, c.SharedPasses = c.SharedRequests+l.Requests, c.SharedPasses+l.Wavefronts
		} else {
			c.GlobalRequests += l.Requests
		}
		file, at := d.place(l.Module, l.PC)
		c.LineCounts = append(c.LineCounts, LineCounts{File: file, Line: at.line, Op: l.Op, Shared: l.Shared,
			Requests: l.Requests, Bytes: l.Bytes, Sectors: l.Sectors, Passes: l.Wavefronts})
	}
	c.FLOPs = d.flops(raw.Blocks)
	slices.SortStableFunc(c.LineCounts, func(a, b LineCounts) int { return a.Line - b.Line })
	return c
}

// place finds the source line of an instruction.
func (d *Device) place(id int, pc uint64) (string, row) {
	m := d.module(id)
	if m == nil || pc == 0 {
		return "", row{}
	}
	if p := m.debug(); p != nil {
		if r, ok := p.line(pc, m.source.Name); ok {
			return m.source.Name, r
		}
	}
	return m.source.Name, row{}
}

func (d *Device) module(id int) *module {
	if id < 0 || id >= len(d.modules) {
		return nil
	}
	return d.modules[id]
}

// debug reads the module's debug information at its first use; without it,
// findings lack their lines but nothing else.
func (m *module) debug() *places {
	if m.places == nil {
		p, err := readPlaces(m.path)
		if err != nil {
			p = &places{}
		}
		m.places = p
	}
	return m.places
}

func (m *module) sourceLine(n int) string {
	lines := strings.Split(m.source.Text, "\n")
	if n < 1 || n > len(lines) {
		return ""
	}
	return strings.TrimRight(lines[n-1], "\r ")
}
