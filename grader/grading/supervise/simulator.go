package supervise

import (
	"fmt"
	"net"
	"sync"
	"time"

	"flashlab/device"
	"flashlab/device/modules"
	"flashlab/device/preprocess"
	"flashlab/device/remote"
	"flashlab/device/sim"
	"flashlab/device/trace"
	"flashlab/grader/grading/gate"
	"flashlab/internal/cache"
)

// Simulator is a Backend of the simulator.
type Simulator struct {
	options sim.Options
	rules   gate.Rules
	seen    *expansions
	*running
}

// running is one process of the simulator.
type running struct {
	mu      sync.Mutex // a worker's requests and our questions take turns
	device  *sim.Device
	memory  *metered
	last    *trace.Report
	serving sync.WaitGroup
	kept    kept
}

// NewSimulator starts the simulator. A stranger's kernels, which are those that run in a
// sandbox, are compiled into a folder of their own, which Close removes; shared ones are not.
func NewSimulator(o sim.Options, rules gate.Rules, shared func(device.Source) bool) (*Simulator, error) {
	o.Vet = rules.VetPreprocessed
	s := &Simulator{rules: rules, seen: &expansions{}}
	o.Vetted = func(src device.Source, forms [][]preprocess.Line) { s.seen.add(src, forms...) }
	s.options = o
	if o.Jail != nil {
		base, err := sharedCache(o)
		if err == nil {
			s.options.Own, err = modules.New(base, OwnModules, shared)
		}
		if err != nil {
			return nil, fmt.Errorf("a folder for compiled kernels: %w", err)
		}
	}
	if err := s.start(); err != nil {
		s.options.Own.Remove()
		return nil, err
	}
	return s, nil
}

// OwnModules is what a submission's compiled kernels may take: each takes some 100 KB.
const OwnModules = 64 << 20

// sharedCache is the folder in which compiled kernels are kept for all.
func sharedCache(o sim.Options) (string, error) {
	if o.Cache != "" {
		return o.Cache, nil
	}
	return cache.Dir()
}

func (s *Simulator) start() error {
	d, err := sim.Start(s.options)
	if err != nil {
		return err
	}
	s.running = s.newRunning(d)
	return nil
}

// Enough is how long a case's kernels may run where all of their lines are told: a page about them has
// to be there soon.
const Enough = 12 * time.Second

func (s *Simulator) newRunning(d *sim.Device) *running {
	r := &running{device: d, last: &trace.Report{}, kept: kept{of: d}}
	limit := time.Duration(0)
	if s.options.Lines {
		limit = Enough
	}
	r.memory = meter(d, &r.kept, limit)
	return r
}

// Kind is Sim.
func (s *Simulator) Kind() device.Kind { return device.Sim }

// Expanded is what was vetted of the files that were compiled.
func (s *Simulator) Expanded() []Expanded { return s.seen.list() }

// Info describes the simulator.
func (s *Simulator) Info() device.Info { return s.device.Info() }

// Serve answers a worker until it hangs up.
func (s *Simulator) Serve(conn net.Conn, kernels Kernels) {
	r := s.running
	r.serving.Go(func() {
		server := remote.Server{Device: r.memory, Find: kernels.vetted(s.rules), Values: r.kept.give, Start: r.memory.start, Lock: &r.mu}
		_ = server.Serve(conn) // a worker that talks nonsense has lost its case already
	})
}

// Observe compares the simulator's report with the last one: findings and
// counts add up in it.
func (s *Simulator) Observe() (Observed, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.memory.broken != nil {
		return Observed{}, s.memory.broken
	}
	r, err := s.device.Report()
	if err != nil {
		return Observed{}, fmt.Errorf("the simulator's report: %w", err)
	}
	prints, cutOff, err := s.device.Prints()
	if err != nil {
		return Observed{}, fmt.Errorf("what kernels printed: %w", err)
	}
	o := Observed{Measured: true, Prints: prints, CutOff: cutOff, Findings: newFindings(s.last.Findings, r.Findings), Notes: newFindings(s.last.Notes, r.Notes), Counts: newCounts(s.last.Launches, r.Launches), Overfull: newOverfull(s.last.Overfull, r.Overfull), Peak: s.memory.take(), Copied: s.memory.takeCopied(), Put: s.memory.takePut(), ByAddress: s.device.ByAddress(), Changed: s.kept.end(), Stopped: s.memory.stopped}
	o.Peak += kernels(o.Counts)
	s.last = r
	return o, nil
}

// few bytes of their own memory do not count: counters of blocks, say.
const few = 1 << 10

// kernels is how much device memory kernels took besides what was allocated for them: their heap, and
// the variables of modules, as far as they wrote to them.
func kernels(counts []trace.Counts) (bytes uint64) {
	for _, c := range counts {
		bytes += c.Heap + c.VariablesWritten
	}
	return bytes - min(bytes, few)
}

// Renew frees all memory, or starts a new simulator if the old one is no longer of
// use: its process has ended, or a kernel is still running in it.
func (s *Simulator) Renew() error {
	old := s.running
	idle := make(chan struct{})
	go func() { old.serving.Wait(); close(idle) }()
	select {
	case <-idle:
		if old.device.Reset() == nil {
			s.running = s.newRunning(old.device)
			return nil
		}
	case <-time.After(time.Second):
	}
	go old.device.Close() // waits for the kernel's own time limit
	return s.start()
}

// Close ends the simulator. It does not wait long for a kernel that still runs:
// the process has its own time limit.
func (s *Simulator) Close() error {
	defer s.options.Own.Remove()
	closed := make(chan error, 1)
	go func() { closed <- s.device.Close() }()
	select {
	case err := <-closed:
		return err
	case <-time.After(3 * time.Second):
		return nil
	}
}

// place is what makes two findings the same one.
type place struct {
	check, kind, kernel, file, message string
	line, column                       int
}

func placeOf(f trace.Finding) place {
	return place{f.Check, f.Kind, f.Kernel, f.File, f.Message, f.Line, f.Column}
}

func newFindings(old, now []trace.Finding) []trace.Finding {
	before := map[place]int{}
	for _, f := range old {
		before[placeOf(f)] += f.Count
	}
	var fresh []trace.Finding
	for _, f := range now {
		seen := min(before[placeOf(f)], f.Count)
		before[placeOf(f)] -= seen
		if f.Count -= seen; f.Count > 0 {
			fresh = append(fresh, f)
		}
	}
	return fresh
}

// newOverfull says which tables were overfull since then.
func newOverfull(old, now []trace.Overfull) (fresh []string) {
	before := map[string]int{}
	for _, o := range old {
		before[o.What] = o.Launches
	}
	for _, o := range now {
		if o.Launches > before[o.What] {
			fresh = append(fresh, o.What)
		}
	}
	return fresh
}

func newCounts(old, now []trace.Counts) []trace.Counts {
	before := map[string]trace.Counts{}
	for _, c := range old {
		before[c.Kernel] = c
	}
	var fresh []trace.Counts
	for _, c := range now {
		b := before[c.Kernel]
		c.Launches -= b.Launches
		c.GlobalRead -= b.GlobalRead
		c.GlobalWritten -= b.GlobalWritten
		c.GlobalRequests -= b.GlobalRequests
		c.SectorsRead -= b.SectorsRead
		c.SectorsWritten -= b.SectorsWritten
		c.SharedRead -= b.SharedRead
		c.SharedWritten -= b.SharedWritten
		c.SharedRequests -= b.SharedRequests
		c.SharedPasses -= b.SharedPasses
		c.Barriers -= b.Barriers
		c.Spilled -= b.Spilled
		c.Steps -= b.Steps
		c.TensorCore -= b.TensorCore
		c.Blocks -= b.Blocks
		c.LongestBlock -= b.LongestBlock
		c.MostRead -= b.MostRead
		c.VariablesWritten -= b.VariablesWritten
		c.Heap -= b.Heap
		c.FLOPs -= b.FLOPs
		c.Ran -= b.Ran
		c.SectorsMissed -= b.SectorsMissed
		c.Matrix -= b.Matrix
		c.Special -= b.Special
		c.Threads -= b.Threads
		c.SharedHad -= b.SharedHad
		c.Held -= b.Held
		c.Instructions -= b.Instructions
		c.WarpGroups -= b.WarpGroups
		c.WarpGroupSteps -= b.WarpGroupSteps
		c.DeviceRead -= b.DeviceRead
		c.DeviceWritten -= b.DeviceWritten
		c.Variance -= b.Variance
		c.LineCounts, c.LineSteps = newLines(b.LineCounts, c.LineCounts), newSteps(b.LineSteps, c.LineSteps)
		if c.Launches > 0 {
			fresh = append(fresh, c)
		}
	}
	return fresh
}
