// Package rubric reads a task's rubric.toml: which files a student may change,
// what is checked, and what it is worth. A rubric is checked as strictly as a
// submission, for a mistake in it costs every student.
package rubric

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"time"

	"flashlab/grader/grading/problem"
	"flashlab/grader/tasks/registry"
	"flashlab/tensor"
)

// Task is one task's rubric.
type Task struct {
	Name     registry.Name `toml:"-"`                   // 2, or b1
	Dir      string        `toml:"-"`                   // "task2_unfused", relative to the module's root
	Variant  string        `toml:"-" json:",omitempty"` // that changes it; "" for the plain course
	Package  string
	Title    string
	Points   float64
	Device   string          // "none" for plain Go; "" is a GPU or the simulator
	Files    []string        // a student's own; none where all are of the tasks it uses
	Honours  []string        // of Files, those that a submission may lack: nothing scored needs them
	Optional []string        // types that may stay stubs: nothing scored needs them
	Provided []string        // other files that the package needs
	Given    []string        // folders of the course's kernels that its worker has besides
	PTX      bool            `toml:"ptx"`     // its kernels may hold inline PTX
	Course   []string        `toml:"headers"` // of the course's own, beyond those that every task's kernels may include
	Uses     []registry.Name // earlier tasks whose files its worker holds too
	Used     []*Task         `toml:"-"` // these tasks
	Limits   Limits
	Shares   Shares
	Traffic  Curve    // of checks without one of their own
	Speed    Curve    // the same, of the ratio to the baseline: more is better
	Speed32  Curve    `toml:"speed32" json:"-"` // the same times beside float32, where Speed is beside fewer bits: shown, not marked
	Checks   []Check  `toml:"check"`
	Reports  []Report `toml:"report"`
	Bench    Bench    `json:"-"`
	NVCC     []Macros `toml:"nvcc" json:"-"`
	Python   string   `json:"-"` // the folder of python/planner that binds its kernels; "" is none
}

// Limits bound what a submission may use.
type Limits struct {
	Build  int    // seconds
	Case   int    // seconds
	Output int    // bytes of a worker's printing that are kept
	Steps  uint64 // of one block in the simulator
	Memory int    // megabytes that a worker may take; defaultMemory without it
}

const defaultMemory = 4096

// MemoryBytes is the limit in bytes.
func (l Limits) MemoryBytes() int64 { return int64(l.Memory) << 20 }

// BuildTime and CaseTime are the limits as durations.
func (l Limits) BuildTime() time.Duration { return time.Duration(l.Build) * time.Second }

// CaseTime bounds one case.
func (l Limits) CaseTime() time.Duration { return time.Duration(l.Case) * time.Second }

// Shares split a check's points. Banks is for shared memory without a conflict: all or nothing.
type Shares struct {
	Correctness, Safety, Traffic, Speed float64
	Banks                               float64 `json:",omitempty"`
}

// Curve gives full marks at a ratio of Full or less, none at None or more, and
// is logarithmic in between.
type Curve struct{ Full, None float64 }

// Check is a group of cases on one operation.
type Check struct {
	ID     string
	Title  string
	Op     string
	Points float64
	// Optional is for a check that is asked of nobody: it has no points, and is done or not. A class is not graded on it.
	Optional bool `json:",omitempty"`
	// Withheld is how many hidden cases a release left out, and WithheldWeight what they weigh.
	Withheld       int
	WithheldWeight float64  `toml:"withheld_weight"`
	After          []string // checks that must have passed at least one case before
	// TrafficCurve is this check's own, where the task's does not fit.
	TrafficCurve *Curve `toml:"traffic"`
	// OwnShares are this check's own, where the task's do not fit.
	OwnShares *Shares `toml:"shares"`
	// SpeedCurve is this check's own, where the task's does not fit.
	SpeedCurve   *Curve `toml:"speed"`
	Speed32Curve *Curve `toml:"speed32" json:"-"`
	// Ladder are workloads for speed: the first that fits in the GPU's free memory is
	// timed.
	Ladder []Rung `toml:"timed"`
	// Worker is the task whose worker is timed, where it is not the check's own: one that
	// holds the kernels of other tasks as well.
	Worker registry.Name `toml:"timed_in"`
	// Random draws further hidden cases; those of no class in particular are among Cases once it is read.
	Random *Random `toml:"hidden" json:",omitempty"`
	Cases  []Case  `toml:"case"`
}

// Rung is one size of a workload that is timed.
type Rung struct {
	Op     string // of another check, where that is the work; the check's own without it
	Shape  []int
	Causal bool
}

// OpOf is the operation that is timed.
func (r Rung) OpOf(c Check) string { return cmp.Or(r.Op, c.Op) }

// Case is one input.
type Case struct {
	Name    string
	Shape   []int
	Dist    tensor.Dist
	Causal  bool
	Each    []int   // one number for each sequence: its length, or a position
	Refused bool    // wrong on purpose: the right answer is an error
	Weight  float64 // 0 in the file counts as 1
	Hidden  bool    // not in a release; its feedback is for the instructor
	Traffic bool    // its memory traffic is scored
	GPU     bool    // too much for the simulator: it runs on a GPU or not at all
	Drawn   bool    `toml:"-" json:",omitempty"` // from a seed
}

// Curve is what a check's traffic is marked by.
func (t *Task) Curve(c Check) Curve {
	if c.TrafficCurve != nil {
		return *c.TrafficCurve
	}
	return t.Traffic
}

// SpeedOf is what a check's speed is marked by.
func (t *Task) SpeedOf(c Check) Curve {
	if c.SpeedCurve != nil {
		return *c.SpeedCurve
	}
	return t.Speed
}

// Speed32Of is where the marks for a check's speed would begin and be full beside float32; zeros where it is marked
// beside that, or nobody says.
func (t *Task) Speed32Of(c Check) Curve {
	if c.Speed32Curve != nil {
		return *c.Speed32Curve
	}
	return t.Speed32
}

// Split is what a check's points are for.
func (t *Task) Split(c Check) Shares {
	if c.OwnShares != nil {
		return *c.OwnShares
	}
	return t.Shares
}

// Scored is the task without its optional checks: what a class is graded on.
func (t *Task) Scored() *Task {
	own := *t
	own.Checks = slices.DeleteFunc(slices.Clone(t.Checks), func(c Check) bool { return c.Optional })
	return &own
}

// OnDevice tells whether the task needs a GPU or the simulator.
func (t *Task) OnDevice() bool { return t.Device != string(problem.NoDevice) }

// TrafficCases counts the cases whose traffic is scored.
func (c Check) TrafficCases() int {
	n := 0
	for _, k := range c.Cases {
		if k.Traffic {
			n++
		}
	}
	return n
}

// hiddenShare is the part of the points for correctness that is for hidden cases, by weight. It is the
// same in a release, which lacks them, and on every device: cases for a GPU alone do not count here.
func (c Check) hiddenShare() float64 {
	hidden, all := c.WithheldWeight, c.WithheldWeight
	for _, k := range c.Cases {
		if k.GPU {
			continue
		}
		all += k.Weight
		if k.Hidden {
			hidden += k.Weight
		}
	}
	if all == 0 {
		return 0
	}
	return hidden / all
}

// All is the task with those that it uses, itself first: what a worker holds.
func (t *Task) All() []*Task { return append([]*Task{t}, t.Used...) }

// exists tells whether a file is there; the rubric's lists are checked by it.
func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Header is the extension of files that kernels may include. No header of CUDA's or C's has it, so no
// name means two files.
const Header = ".cuh"

// Headers are the task's own, which its kernels may include.
func (t *Task) Headers() (names []string) {
	for _, f := range t.Files {
		if filepath.Ext(f) == Header {
			names = append(names, f)
		}
	}
	return names
}

// MissingFiles lists what the rubric names and the tree lacks.
func (t *Task) MissingFiles(root string) []string {
	var missing []string
	for _, one := range t.All() {
		for _, f := range append(append([]string{}, one.Files...), one.Provided...) {
			if !exists(filepath.Join(root, one.Dir, f)) {
				missing = append(missing, filepath.Join(one.Dir, f))
			}
		}
	}
	return missing
}

// Folders are the task's own and those of the tasks that it uses.
func (t *Task) Folders() (all []string) {
	for _, one := range t.All() {
		all = append(all, one.Dir)
	}
	return all
}

// Worker is the package of the program that runs the task's submissions.
func (t *Task) Worker() string { return registry.Task{Name: t.Name, Dir: t.Dir}.Worker() }
