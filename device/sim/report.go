package sim

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"flashlab/device/protocol"
	"flashlab/device/trace"
)

const sectorBytes = 32

// rawReport is what runtime/findings.cpp and runtime/traffic.cpp write.
type rawReport struct {
	Findings []rawFinding
	Kernels  []rawCounts
	Tables   []trace.Overfull
}

type rawFinding struct {
	Check, Kind, Kernel      string
	Count                    int
	Fatal                    bool
	Module                   int
	Thread, Block, Grid      [3]int
	PC, OtherPC              uint64
	Line, Column, OtherLine  int
	Op, OtherOp              string
	Bytes, Offset, Size      int64
	Space, Name, Owner, Note string
	Passed                   []int // the kernel's arguments that point into it
	OtherThread, OtherBlock  [3]int
	BlocksDiffer             bool
	Dynamic                  bool // shared memory of the launch's size
	Elsewhere                bool // a race at other addresses of the block, too
	ReadFirst                bool // a race of writes, of which one followed its thread's own read
	OneWarp                  bool // a race of which all pairs are of one warp, in a block of several
	Text                     string
}

type rawCounts struct {
	Kernel                                                    string
	Launches                                                  int
	Barriers                                                  uint64
	Steps                                                     uint64
	LongestBlock                                              uint64
	MostRead                                                  uint64
	Variables                                                 uint64 // sectors
	Heap                                                      uint64
	Spilled                                                   uint64
	Products                                                  uint64 // of wgmma: multiplications and additions
	Multiplied                                                uint64 // instructions of tensor cores, by warps
	Fetched, SentBack                                         uint64
	Groups, GroupSteps, Missed, Ran, Threads, SharedHad, Held uint64
	Variance                                                  float64
	Bounds                                                    [2]int
	Blocks                                                    [][3]uint64 // module, return address of the block's hook, runs
	Lines                                                     []struct {
		Module                               int
		PC                                   uint64
		Op                                   string
		Shared                               bool
		Requests, Bytes, Sectors, Wavefronts uint64
		Lanes                                uint64
	}
	BarriersAt  [][4]uint64 // module, line, how often threads met, how many came
	Grid, Block [3]int      // of the first launch
	Grids       uint64      // blocks of all launches
	rawSamples
}

// Report collects what has been found and counted.
func (d *Device) Report() (*trace.Report, error) {
	var answer protocol.Data
	if err := d.ask(protocol.New(protocol.OpReport), nil, &answer); err != nil {
		return nil, err
	}
	return d.readReport(answer)
}

// readReport puts what the simulator wrote into words.
func (d *Device) readReport(answer []byte) (*trace.Report, error) {
	r := &trace.Report{}
	var raw rawReport
	if err := json.Unmarshal(answer, &raw); err != nil {
		return nil, fmt.Errorf("the simulator's report: %w", err)
	}
	d.spreadReadFirst(raw.Findings)
	spreadWarps(raw.Findings)
	var all, notes []explained
	for _, f := range d.withSkips(raw.Findings) {
		if f.Check == "note" {
			notes = append(notes, d.explain(f))
		} else {
			all = append(all, d.explain(f))
		}
	}
	r.Findings, r.Notes = fold(all), fold(notes)
	for _, c := range raw.Kernels {
		r.Launches = append(r.Launches, d.sum(c))
	}
	r.Overfull = raw.Tables
	return r, nil
}

func (d *Device) sum(raw rawCounts) trace.Counts {
	c := trace.Counts{Kernel: raw.Kernel, Launches: raw.Launches, Barriers: raw.Barriers, Steps: raw.Steps, LongestBlock: raw.LongestBlock, MostRead: raw.MostRead, VariablesWritten: raw.Variables * sectorBytes, Heap: raw.Heap, Spilled: raw.Spilled, TensorCore: raw.Multiplied,
		Grid: raw.Grid, Block: raw.Block, Blocks: raw.Grids,
		Ran: raw.Ran, SectorsMissed: raw.Missed, WarpGroups: raw.Groups, WarpGroupSteps: raw.GroupSteps, Threads: raw.Threads, SharedHad: raw.SharedHad, Held: raw.Held, Bounds: raw.Bounds, Variance: raw.Variance,
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
		c.LineCounts = append(c.LineCounts, trace.LineCounts{File: file, Line: at.line % headerLines, Op: l.Op, Shared: l.Shared,
			Requests: l.Requests, Bytes: l.Bytes, Sectors: l.Sectors, Passes: l.Wavefronts, Lanes: l.Lanes})
	}
	if d.options.FLOPs {
		w := d.work(raw.Blocks)
		c.FLOPs, c.Matrix, c.Special, c.Instructions = w.flops+raw.Products, w.matrix+raw.Products, w.special, w.instructions
	}
	if d.options.Lines || d.options.FLOPs {
		c.LineSteps = d.lineSteps(raw)
	}
	if d.options.Lines {
		c.Samples = d.samples(raw.rawSamples)
	}
	slices.SortStableFunc(c.LineCounts, func(a, b trace.LineCounts) int { return a.Line - b.Line })
	return c
}

// place finds the source line of an instruction.
func (d *Device) place(id int, pc uint64) (string, row) {
	m := d.module(id)
	if m == nil || pc == 0 {
		return "", row{}
	}
	if p := m.debug(); p != nil {
		if r, ok := p.line(pc, m.owns); ok {
			return r.file, r
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

// owns tells whether a file's plain name is the source's, or that of a file with it.
func (m *module) owns(file string) bool { return m.text(file) != "" }

func (m *module) text(file string) string {
	if file == m.source.Name {
		return m.source.Text
	}
	for name, text := range m.source.Files {
		if path.Base(name) == file {
			return text
		}
	}
	return ""
}

func (m *module) sourceLine(file string, n int) string {
	file, n = fileOf(m.source.Files, file, n)
	lines := strings.Split(m.text(file), "\n")
	if n < 1 || n > len(lines) {
		return ""
	}
	return strings.TrimRight(lines[n-1], "\r ")
}
