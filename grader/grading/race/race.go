package race

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
	"flashlab/grader/grading/timing"
	"flashlab/grader/grading/wire"
)

// Racer is anything that is timed: the code in question, the library, or a peer.
type Racer interface {
	Name() string
	// Checked says that what it writes is the workload's output.
	Checked() bool
	// Run does one run on the inputs of the turn's seed.
	Run(t wire.Turn) timing.Run
	// Pieces fetches parts of what the last run wrote.
	Pieces(from []int, size int) ([]float32, *wire.Error)
}

// writer is a Racer that can be asked for any of a workload's outputs.
type writer interface {
	// WritesAll is false of a baseline, which need write no more than the first.
	WritesAll() bool
	Span(s judge.Span) ([]float32, *wire.Error)
}

// Entry is one racer's result.
type Entry struct {
	Name  string
	Times []float64 // nanoseconds, in the order of the runs; empty where nothing was measured
	Stats timing.Stats
	Not   string  // why there are no times: "needs a GPU"
	Wrong string  // why the outputs are not right
	Held  string  // why the times are not believed
	Fills int     `json:",omitempty"` // how often the cache was filled before each run, in the end; 0 for once
	Bare  int     `json:",omitempty"` // runs among Times whose launches were not hidden all the same
	Error float64 // of the piece that is closest to what is allowed, over that: 1 is the bound
	Worst float64 // of the worst piece, relative to the row's size
	Usual float64 `json:",omitempty"` // of each run's worst piece, in the same measure: the median

	errors []float64    // what Usual is the median of
	runs   []timing.Run // that count
}

// Options of a race.
type Options struct {
	Ops    judge.Ops // that workloads may name
	Name   string    // of the code in question; OursName without it
	Small  bool      // of the shape that a simulator gets, wherever it runs
	Wide   bool      // race the baseline in float32, too, where the operation's own is of fewer bits
	Runs   int       // that count, of each racer
	Warm   int       // before them; they are checked, too, and their times left out
	Pieces int       // of each output that are checked
	Seed   uint64    // that all seeds and pieces come from, but those of repeats (Filling.Hidden); no worker is told
}

// TurnSeed is the seed of a turn's inputs.
func (o Options) TurnSeed(what string, turn int) uint64 {
	return problem.SeedOf(o.Seed, fmt.Sprintf("timed: %s, %d", what, turn))
}

// sample is what one run wrote, in part.
type sample struct {
	entry int
	seed  uint64
	from  []int
	got   []float32
	rest  [][][]float32 // for each piece its spans of the further outputs; nil where these are not looked at
}

// Race runs the racers in turn, A B C A B C, so that they share whatever the machine
// does meanwhile, and checks pieces of each output. A round in which the launches of one
// were not hidden is checked, and not counted: another takes its place.
func Race(op judge.Op, c problem.Problem, racers []Racer, o Options, hold func(r timing.Run) string) []Entry {
	random := problem.Random(o.Seed, fmt.Sprint("race: ", op.Name, c.Sizes, c.Causal))
	entries := make([]Entry, len(racers))
	var samples []sample
	like := op.Timed.LikeBaseline()
	fillings := make([]Filling, len(racers))
	for round := 0; round < o.Warm+o.Runs; {
		measured, again := make([]timing.Run, len(racers)), false
		shared, pieces := random.Uint64(), some(random, op, c, o.Pieces) // where outputs are compared with each other
		for i, r := range racers {
			e := &entries[i]
			e.Name = r.Name()
			if e.Not != "" || e.Wrong != "" {
				continue
			}
			seed := random.Uint64()
			if like {
				seed = shared
			}
			run := r.Run(wire.Turn{Who: wire.Ours, Seed: seed, Fills: fillings[i].times})
			if _, is := r.(Guest); is && run.Error != nil {
				e.Not = run.Error.Error() // such as too little memory: nobody's fault
				continue
			}
			if run.Error != nil {
				e.Wrong = run.Error.Error()
				continue
			}
			if run.Bad > 0 {
				e.Wrong = fmt.Sprintf("run %d left %d elements that are NaN or infinite: not written, or wrong", round+1, run.Bad)
				continue
			}
			if r.Checked() {
				s := sample{entry: i, seed: seed, from: some(random, op, c, o.Pieces)}
				if like {
					s.from = pieces
				}
				got, failed := r.Pieces(s.from, op.Timed.Piece(c))
				if failed != nil {
					e.Wrong = failed.Error()
					continue
				}
				s.got = got
				if s.rest, failed = rest(r, op, c, s.from); failed != nil {
					e.Wrong = failed.Error()
					continue
				}
				samples = append(samples, s)
			}
			if run.Outside != "" || run.Device > 0 {
				e.hold(hold(run))
			}
			measured[i] = run
			if fillings[i].raise(run) {
				e.Fills, again = fillings[i].times, true
			}
		}
		if again {
			continue
		}
		for i, run := range measured {
			if round >= o.Warm && run.Device > 0 {
				entries[i].count(run)
			}
		}
		round++
	}
	for _, s := range samples {
		if like {
			s.compare(&entries[s.entry], op, c, samples)
			continue
		}
		check(&entries[s.entry], op, c, s)
	}
	for i := range entries {
		if _, is := racers[i].(Guest); !is { // whose host's clock is its own program's
			entries[i].hold(timing.HoldAll(entries[i].runs))
		}
		entries[i].Stats = timing.Describe(entries[i].Times)
		entries[i].Usual = timing.Describe(entries[i].errors).Median
	}
	return entries
}

// count takes a run's time.
func (e *Entry) count(run timing.Run) {
	e.Times, e.runs = append(e.Times, run.Time()), append(e.runs, run)
	if run.Exposed() {
		e.Bare++
	}
}

// NotHidden says, for a report, that times may hold waiting for the host.
func (e Entry) NotHidden() string {
	if e.Bare == 0 {
		return ""
	}
	return fmt.Sprintf("launches were not hidden in %d of %d runs", e.Bare, len(e.Times))
}

// hold keeps the first reason.
func (e *Entry) hold(why string) {
	if e.Held == "" {
		e.Held = why
	}
}

// some picks pieces: the first, the last, and others at random.
func some(random *rand.Rand, op judge.Op, c problem.Problem, n int) []int {
	size := op.Timed.Piece(c)
	all := 1
	for _, d := range c.Outputs[0].Shape {
		all *= d
	}
	all /= size
	from := []int{0, (all - 1) * size}
	for range max(n-2, 0) {
		from = append(from, random.IntN(all)*size)
	}
	return from
}

// rest fetches what belongs to pieces of the first output in the others.
func rest(r Racer, op judge.Op, c problem.Problem, from []int) (all [][][]float32, failed *wire.Error) {
	w, is := r.(writer)
	if op.Timed.Rest == nil || !is || !w.WritesAll() {
		return nil, nil
	}
	for _, at := range from {
		spans, _ := op.Timed.Rest(c, at)
		got := make([][]float32, len(spans))
		for i, span := range spans {
			if got[i], failed = w.Span(span); failed != nil {
				return nil, failed
			}
		}
		all = append(all, got)
	}
	return all, nil
}

// WrongOutput is how Wrong begins where a run's pieces are not within the bound of errors.
const WrongOutput = "one of the timed outputs is wrong: "

// check judges one run's pieces.
func check(e *Entry, op judge.Op, c problem.Problem, s sample) {
	c.Seed = s.seed
	j := op.Timed.Judge(c, s.from, s.got)
	e.erred(j.Error, j.Bound)
	if !j.Passed && e.Wrong == "" {
		size := op.Timed.Piece(c)
		e.Wrong = fmt.Sprintf(WrongOutput+"element %d is %g, want %g (error %.2g of the row's size, %.2g allowed)",
			s.from[j.Worst/size]+j.Worst%size, j.Got, j.Want, j.Error, j.Bound)
	}
	for i, got := range s.rest {
		_, wrong := op.Timed.Rest(c, s.from[i])
		if why := wrong(got); why != "" && e.Wrong == "" {
			e.Wrong = WrongOutput + why
		}
	}
}

// compare holds a run's pieces against those that the baseline, which is second in
// turn, wrote for the same inputs.
func (s sample) compare(e *Entry, op judge.Op, c problem.Problem, all []sample) {
	if s.entry == baselineEntry {
		return
	}
	i := slices.IndexFunc(all, func(b sample) bool { return b.entry == baselineEntry && b.seed == s.seed })
	if i < 0 {
		if e.Wrong == "" {
			e.Wrong = "a run has nothing to be compared with: the baseline failed"
		}
		return
	}
	size := op.Timed.Piece(c)
	most := 0.0
	for j := range s.from {
		apart := judge.Apart(s.got[j*size:(j+1)*size], all[i].got[j*size:(j+1)*size])
		most = max(most, apart)
		if !(apart <= judge.Close) && e.Wrong == "" {
			e.Wrong = fmt.Sprintf("one of the timed outputs is wrong: row %d is off by %.2g of its size from what the course's own model gives (%.0e is allowed)",
				s.from[j]/size, apart, judge.Close)
		}
	}
	e.erred(most, judge.Close)
}

// erred keeps the error of a run's worst piece. NaN and infinity make the entry wrong, and
// cannot be written as JSON.
func (e *Entry) erred(worst, bound float64) {
	if math.IsNaN(worst) || math.IsInf(worst, 0) {
		return
	}
	e.errors = append(e.errors, worst)
	e.Error, e.Worst = max(e.Error, worst/bound), max(e.Worst, worst)
}

// baselineEntry is the baseline's place among the racers.
const baselineEntry = 1

// Microseconds is a time for people.
func Microseconds(ns float64) string {
	d := time.Duration(ns)
	switch {
	case d >= time.Second:
		return fmt.Sprintf("%.3f s", d.Seconds())
	case d >= time.Millisecond:
		return fmt.Sprintf("%.2f ms", ns/1e6)
	}
	return fmt.Sprintf("%.1f µs", ns/1e3)
}
