// Package verdict is the result of grading one task: outcomes of its cases, findings, figures and points. Reports
// and gradebooks read nothing else.
package verdict

import (
	"slices"
	"time"

	"flashlab/device/trace"
	"flashlab/grader/grading/problem"
	"flashlab/grader/tasks/registry"
	"flashlab/tensor"
)

// Verdict is the result of one task.
type Verdict struct {
	Task     registry.Name
	Dir      string
	Title    string
	Subject  string // "your files", "the reference solution", …
	Device   string // what the cases ran on
	Versions string // of Go, the compiler, the machine
	Release  string // the course's: "2027.1-59b4246abc"
	Seed     uint64
	Again    string // the command that repeats the run: "make grade TASK=2 SEED=1"
	Partly   string `json:",omitempty"` // what alone was asked for: "softmax", or "" for the whole task
	One      bool   // it is one case: all that it prints is shown
	Shown    string // the thread whose printf is shown, in words; "" for all
	Warnings []string
	Refused  string // why nothing ran: the gate's or the compiler's words
	Checks   []Check
	Copies   []string `json:",omitempty"`        // places that are what the course ships: a person has to look at them
	Like     []Like   `json:",omitempty"`        // published solutions that it is like: for whoever teaches
	Held     []Held   `json:"held,omitempty"`    // checks that await a person
	Reports  []Report `json:"reports,omitempty"` // what Results.md reports besides, in the rubric's order
}

// Like is a function of a published solution, and how much of it was handed in.
type Like struct {
	Of    string // its place: "task2_unfused/solution/kernels.cu:10-80"
	Share float64
}

// Report is something that was measured, and is not scored.
type Report struct {
	Title   string     `json:"title"`
	Columns []string   `json:"columns,omitempty"`
	Rows    [][]string `json:"rows,omitempty"`
	Text    string     `json:"text,omitempty"` // lines that stand below the table as they are
	Not     string     `json:"not,omitempty"`  // why there is nothing: "not measured: needs a GPU"
}

// Held is a check that a machine cannot decide on: it is neither right nor wrong,
// and has no points until a person has looked.
type Held struct {
	Check     string `json:"check"`
	Reason    string `json:"reason"`    // one sentence
	Evidence  string `json:"evidence"`  // what was measured
	Reproduce string `json:"reproduce"` // the command that shows it again
}

// Awaiting is what a part of such a check says in place of a score.
const Awaiting = "awaiting a person"

// ComesFirst follows the title of a check that another one waits for.
const ComesFirst = " comes first"

// Hidden is the part of a check that belongs to its hidden cases. Its share of the points for
// correctness is their weight among all cases. It is kept separate, so that a release, which lacks
// these cases, gives no points that are taken away again after handing in.
const Hidden = "hidden"

// BankPart is the part of a check that wants shared memory without conflicts.
const BankPart = "banks"

// Check is the result of one check.
type Check struct {
	ID       string
	Title    string
	Optional bool `json:",omitempty"` // it has no points: done or not
	Parts    []Part
	Cases    []Outcome
	Findings []Found // of all cases, repeats folded
}

// Found is a finding, and the case that it was first met in.
type Found struct {
	trace.Finding
	Case  string `json:",omitempty"` // its name; "" for a hidden one
	Again string `json:",omitempty"` // the command that shows what its thread prints
}

// Part is one share of a check's points.
type Part struct {
	Name        string // "correctness", "hidden", "safety", "traffic", "banks", "speed"
	Score, Max  float64
	Note        string
	Error       float64   // of correctness: the largest that passed, over what is allowed
	NotMeasured string    // why there is no score; then Max is what it would be worth
	NeedsGPU    bool      // a GPU would have measured it
	Withheld    bool      `json:",omitempty"` // its cases are hidden, and not in this release
	Ratio       float64   `json:",omitempty"` // of speed: how many times the baseline's; 0 where it was not timed
	Estimate    *Estimate `json:",omitempty"` // of speed, where there is no GPU
	Doubt       string    `json:",omitempty"` // why a time is not believed: a person has to look at it
}

// Estimate is how long a workload would take on a GPU that is not there, by what the simulator counted.
type Estimate struct {
	GPU       string
	Workload  string
	Seconds   float64 // 0 where there is none
	Deviation float64 `json:",omitempty"` // by the blocks that were counted: the standard error, over the whole
	Bound     string  // what takes longest
	Text      string  // all of it in words, or why there is none
}

// Outcome is the result of one case.
type Outcome struct {
	Name    string
	Shape   []int
	Dist    tensor.Dist
	Causal  bool
	Hidden  bool
	Refused bool // wrong on purpose: an error is the right answer
	Weight  float64
	Passed  bool
	Class   string        // of the error, if student code returned one or crashed
	Reason  string        // one sentence, "" if passed
	Details []string      // where it went wrong
	Error   float64       // of its worst row, relative to the row's size, if passed
	Bound   float64       // what that may be; 0 where bits are compared
	Again   string        // the command that repeats this case
	Traffic bool          // its memory traffic counts
	Moved   uint64        // bytes to and from device memory, where measured
	Spilled uint64        `json:",omitempty"` // bytes among them of local arrays that no registers could hold, once
	Counted *Counted      `json:",omitempty"` // what else was counted, where its traffic counts
	Lines   []Line        `json:",omitempty"` // of kernels, where its traffic counts: those that moved most
	Least   uint64        // bytes that any kernel has to move
	Printed string        // by the program, bounded
	Prints  []trace.Print // by its kernels
	CutOff  bool          // they printed more
	Suspect string        `json:",omitempty"` // why a person should look at it, though it passed
	Facts   string        `json:",omitempty"` // the numbers behind that

	Each      []int `json:",omitempty"` // as the rubric has it: a number for each sequence
	Disagreed bool  `json:",omitempty"` // right on one of GPU and simulator, and wrong on the other

	Told [][]string `json:"-"` // rows for a report
}

// Ratio is how much more than necessary was moved; 0 where nobody looked.
func (c Outcome) Ratio() float64 {
	if c.Least == 0 {
		return 0
	}
	return float64(c.Moved) / float64(c.Least)
}

// Points are the points of what was measured, and how many there were. The warm-up has none.
func (v Verdict) Points() (score, most float64) {
	if v.Task.WarmUp() {
		return 0, 0
	}
	return parts(Scored(v.Checks))
}

// parts adds up what was reached of what was measured.
func parts(checks []Check) (score, most float64) {
	for _, c := range checks {
		for _, p := range c.Parts {
			if p.NotMeasured == "" {
				score += p.Score
				most += p.Max
			}
		}
	}
	return score, most
}

// Scored are the checks that have points: all but the optional ones.
func Scored(checks []Check) []Check {
	return slices.DeleteFunc(slices.Clone(checks), func(c Check) bool { return c.Optional })
}

// Parted separates the verdicts on bonus tasks from the others: neither's points count among the
// other's.
func Parted(all []Verdict) (course, bonus []Verdict) {
	for _, v := range all {
		if v.Task.Bonus() {
			bonus = append(bonus, v)
		} else {
			course = append(course, v)
		}
	}
	return course, bonus
}

// Total adds the points of several verdicts up, as Points does those of one.
func Total(all []Verdict) (score, most float64) {
	for _, v := range all {
		got, of := v.Points()
		score, most = score+got, most+of
	}
	return score, most
}

// Full tells whether all of what was measured was reached. Optional checks count where they are all that was asked for.
func (v Verdict) Full() bool {
	checks := Scored(v.Checks)
	if len(checks) == 0 {
		checks = v.Checks
	}
	got, most := parts(checks)
	return v.Refused == "" && len(v.Held) == 0 && most > 0 && got >= most-1e-9
}

// Part finds a part by name.
func (c Check) Part(name string) *Part {
	for i := range c.Parts {
		if c.Parts[i].Name == name {
			return &c.Parts[i]
		}
	}
	return nil
}

// Passed is the number of cases that passed.
func (c Check) Passed() int {
	n := 0
	for _, k := range c.Cases {
		if k.Passed {
			n++
		}
	}
	return n
}

// Tuned is what came of one choice: of tiles, or of the parts that a step is split into.
type Tuned struct {
	Tiles     problem.Tiles
	Parts     int           // 0 where tiles are tried
	Wrong     string        // why it is out: refused, or not right
	Ratio     float64       // bytes moved over the least, in the simulator
	Conflicts float64       // passes of the banks for a request
	Passes    uint64        // of the banks in all
	Time      time.Duration // of a call, on a GPU
	TFLOPS    float64       // from it
	TBps      float64       // of keys and values, where parts are tried
}
