package corpus

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"flashlab/device"
)

// Bug is a kernel with one planted bug, if it is compiled with the macro BUG. Its twin is the same kernel
// without BUG, or another one. It takes the same launch and arguments.
type Bug struct {
	Name   string
	File   string // "bugs/races.cu"
	Line   int    // that must be reported
	Kind   string // of the finding, in the simulator's words
	Todo   bool   // the simulator cannot see it yet
	Blind  string // why compute-sanitizer says nothing about it; "" if it should
	Class  string // of the mistakes that Hopper made possible; "" of others
	Apart  bool   // its twin computes something else, so that their results do not compare
	right  string // the twin's kernel, if that is another one
	launch device.Launch
	twin   device.Launch // where its launch is the bug
	args   []argument
}

// Twin names the twin, for runbug and in tables: NAME_ok, or its kernel, if that is another one. Several bugs may have
// one twin.
func (b Bug) Twin() string { return cmp.Or(b.right, b.Name+"_ok") }

// Endless bugs keep a GPU busy until someone stops it.
func (b Bug) Endless() bool {
	switch b.Kind {
	case "steps", "time", "deadlock", "grid barrier not reached by all":
		return true
	}
	return false
}

// Tool is the one of compute-sanitizer's that bugs of this kind belong to.
func (b Bug) Tool() string {
	switch b.Kind {
	case "race":
		return "racecheck"
	case "uninitialised", "never written", "not waited for":
		return "initcheck"
	case "barrier not reached by all", "grid barrier not reached by all", "bad barrier", "bad mbarrier", "no mbarrier", "too many arrivals", "stale phase",
		"divergent barrier", "deadlock", "wrong mask", "absent lane", "lane outside the mask", "divergent warp":
		return "synccheck"
	}
	return "memcheck"
}

// marker matches the comments that say what must be found in a line: want, or todo
// for what the simulator cannot see yet. Outside a kernel, the kernel's name follows
// in parentheses.
var marker = regexp.MustCompile(`// (want|todo)(?:\((\w+)\))?: (.*)$`)

// Bugs lists every planted bug.
func Bugs() ([]Bug, error) {
	var all []Bug
	for _, part := range []struct {
		file string
		bugs []Bug
	}{
		{"bugs/races.cu", races}, {"bugs/races_wide.cu", wideRaces}, {"bugs/fences.cu", fences}, {"bugs/memory.cu", memoryBugs},
		{"bugs/memory_wide.cu", wideMemoryBugs}, {"bugs/uninitialised.cu", uninitialised},
		{"bugs/synchronisation.cu", synchronisation}, {"bugs/limits.cu", limits},
		{"bugs/asynchronous.cu", asynchronous}, {"bugs/tensorcore.cu", tensorCoreBugs},
		{"bugs/hopper_waits.cu", waits}, {"bugs/hopper_handing.cu", handing}, {"bugs/hopper_buffers.cu", buffers},
		{"bugs/hopper_products.cu", products},
		{"bugs/clusters.cu", clusters}, {"bugs/clusters_mbarriers.cu", clusterBarriers}, {"bugs/grids.cu", grids}, {"bugs/groups.cu", groups},
	} {
		text, err := Text(part.file)
		if err != nil {
			return nil, err
		}
		marked, err := readMarkers(part.file, text)
		if err != nil {
			return nil, err
		}
		for _, b := range part.bugs {
			m, ok := marked[b.Name]
			if !ok {
				return nil, fmt.Errorf("%s: no line of %s says what must be found in it", part.file, b.Name)
			}
			delete(marked, b.Name)
			b.File, b.Line, b.Kind, b.Todo = part.file, m.Line, m.Kind, m.Todo
			all = append(all, b)
		}
		for name := range marked {
			return nil, fmt.Errorf("%s: %s has a marker, but no launch is known for it", part.file, name)
		}
	}
	return all, nil
}

// FindBug looks a bug up by its name.
func FindBug(name string) (Bug, error) {
	all, err := Bugs()
	if err != nil {
		return Bug{}, err
	}
	for _, b := range all {
		if b.Name == name {
			return b, nil
		}
	}
	return Bug{}, fmt.Errorf("no bug is called %q", name)
}

func readMarkers(file, text string) (map[string]Bug, error) {
	marked := map[string]Bug{}
	sigs := device.ScanKernels(text)
	for i, line := range strings.Split(text, "\n") {
		m := marker.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		name := m[2]
		for _, s := range sigs {
			if m[2] == "" && s.Line <= i+1 {
				name = s.Name
			}
		}
		if _, twice := marked[name]; twice {
			return nil, fmt.Errorf("%s:%d: %s has two markers", file, i+1, name)
		}
		marked[name] = Bug{Line: i + 1, Kind: m[3], Todo: m[1] == "todo"}
	}
	return marked, nil
}

// Runner launches bugs and their twins on one device.
type Runner struct{ bugs, twins *loader }

// NewRunner makes a runner.
func NewRunner(d device.Device) *Runner { return &Runner{newLoader(d, true), newLoader(d, false)} }

// Compile builds every file of bugs, or one, so that later runs find them in the cache.
func (r *Runner) Compile(file string) error {
	all, err := Bugs()
	if err != nil {
		return err
	}
	for _, b := range all {
		if file != "" && b.File != file {
			continue
		}
		for _, load := range []*loader{r.bugs, r.twins} {
			if _, err := load.kernel(b.File, b.Name); err != nil {
				return err
			}
		}
	}
	return nil
}

// Run launches a bug, or its twin, waits for it, and copies its results to the
// host. Memory is not given back: a fault may have ended the device.
func (r *Runner) Run(b Bug, twin bool) error {
	_, err := r.Results(b, twin)
	return err
}

// Results is Run, and gives the bytes of each result.
func (r *Runner) Results(b Bug, twin bool) ([][]byte, error) {
	name, launch, load := b.Name, b.launch, r.bugs
	if twin {
		name, load = cmp.Or(b.right, b.Name), r.twins
		if b.twin != (device.Launch{}) {
			launch = b.twin
		}
	}
	d := load.device
	k, err := load.kernel(b.File, name)
	if err != nil {
		return nil, err
	}
	params := k.Signature().Params
	if len(params) != len(b.args) {
		return nil, fmt.Errorf("%s takes %d arguments, its launch gives %d", name, len(params), len(b.args))
	}
	var args []any
	var results []device.Memory
	for i, p := range params {
		arg, result, err := b.args[i](d, p.Name)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", name, p.Name, err)
		}
		args = append(args, arg)
		if result.Bytes > 0 {
			results = append(results, result)
		}
	}
	if err := d.Launch(k, launch, args...); err != nil {
		return nil, err
	}
	if err := d.Sync(); err != nil {
		return nil, err
	}
	var values [][]byte
	for _, m := range results {
		to := make([]byte, m.Bytes)
		if err := d.CopyOut(to, m); err != nil {
			return nil, err
		}
		values = append(values, to)
	}
	return values, nil
}
