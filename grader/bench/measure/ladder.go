package measure

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"flashlab/grader/bench"
	"flashlab/grader/grading/build"
	"flashlab/grader/grading/race"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/run"
	"flashlab/grader/grading/timing"
	"flashlab/internal/figure"
)

// rung is one that was timed.
type rung struct {
	rubric.Step
	title string
	race.Row
	inexact string // what the judge said of a rung that is inexact on purpose
}

// forgive takes a rounding error that a ladder knows of, at most this large, from what makes a row wrong. It returns
// what the judge said of it.
func forgive(r race.Row, known float64) (why string) {
	if known == 0 || len(r.Entries) == 0 {
		return ""
	}
	if e := &r.Entries[0]; strings.HasPrefix(e.Wrong, race.WrongOutput) && e.Worst <= known {
		why, e.Wrong = e.Wrong, ""
	}
	return why
}

// Ladder times all rungs of a ladder on one workload, in one run, and draws them.
func (b Options) Ladder(ctx context.Context, l bench.Ladder) (right bool, err error) {
	fmt.Printf("\nThe ladder %q: %s\n", l.Name, l.Workload.Name)
	var rungs []rung
	var test race.SelfTest
	right = true
	for i, one := range l.Rungs {
		o := b
		title := strconv.Itoa(i+1) + " " + one.Idea
		w := l.Workload
		if one.Version != "" {
			o.Subject = run.Version(o.Root, o.Task, one.Version)
			w.Peers = nil // others race beside the last rung
		}
		row, err := o.oneRung(ctx, w, &test)
		if err != nil {
			return false, fmt.Errorf("rung %q: %w", title, err)
		}
		why := forgive(row, one.Inexact)
		r := rung{one, title, row, why}
		right = right && r.Right()
		rungs = append(rungs, r)
		fmt.Print(describe(rungs, test))
	}
	last := rungs[len(rungs)-1]
	for _, e := range last.Entries[1:] {
		if e.Stats.N > 0 {
			fmt.Printf("\n  beside the last: %s takes %s\n", e.Name, race.Microseconds(e.Stats.Median))
		}
	}
	fmt.Print(limits(last.Row, test))
	f := picture(l, rungs, test)
	if len(f.Bars) == 0 {
		return right, nil
	}
	file := filepath.Join(b.Output, "ladder-"+l.Name)
	if err := f.Draw(ctx, b.Root, file+".svg", file+".png"); err != nil {
		return right, err
	}
	fmt.Println("Written:", file+".svg,", file+".png")
	return right, nil
}

// oneRung times a version in a worker of its own. The first one's also tests the machine.
func (b Options) oneRung(ctx context.Context, w race.Workload, t *race.SelfTest) (row race.Row, err error) {
	r, closed, err := run.Open(ctx, b.Options, turn)
	if err != nil {
		return row, err
	}
	defer closed()
	if t.Copy.N == 0 && t.Not == "" {
		if *t, err = race.Test(ctx, r, w.Op, b.race()); err != nil {
			return row, err
		}
		fmt.Println(*t)
	}
	var peers []race.Peer
	if b.Torch != nil && len(w.Peers) > 0 {
		peers = append(peers, b.Torch)
	}
	return race.Measure(ctx, r, w, b.race(), peers...)
}

// describe is the newest rung for a terminal: its time, and how many times as fast it is as the one
// below and as the first.
func describe(rungs []rung, t race.SelfTest) string {
	now := rungs[len(rungs)-1]
	of := "the solution"
	if now.Version != "" {
		of = build.VersionTitle(now.Version)
	}
	text := fmt.Sprintf("\n  %s (%s)\n", now.title, of)
	if len(now.Entries) == 0 {
		return text + "     not run: " + now.Left + "\n"
	}
	text += "     " + now.EntryText(now.Entries[0], 0, t) + "\n"
	if time, first := now.took(), rungs[0].took(); time > 0 && first > 0 && len(rungs) > 1 {
		if before := rungs[len(rungs)-2].took(); before > 0 {
			text += fmt.Sprintf("     × %.2f the rung below, ", before/time)
		}
		text += fmt.Sprintf("× %.1f the first\n", first/time)
	}
	text += onPurpose(now.inexact)
	return text + "     held by: " + now.Step.Bound + "\n"
}

// onPurpose is what the judge said of a version that its ladder knows to be inexact, on a line of its own.
func onPurpose(why string) string {
	if why == "" {
		return ""
	}
	return "     inexact, on purpose: " + why + "\n"
}

// took is a rung's median time; 0 if it has none.
func (r rung) took() float64 {
	if len(r.Entries) == 0 || r.Entries[0].Wrong != "" {
		return 0
	}
	return r.Entries[0].Stats.Median
}

// floors are what the machine's own rates allow at best, in nanoseconds.
func floors(r race.Row, t race.SelfTest) (memory, adds float64) {
	if t.Copy.Median > 0 {
		memory = r.Work.Bytes / t.Copy.Median * 1e9
	}
	if t.Adds.Median > 0 {
		adds = r.Work.FLOPS / t.Adds.Median * 1e9
	}
	return memory, adds
}

func limits(r race.Row, t race.SelfTest) string {
	memory, adds := floors(r, t)
	if memory == 0 || adds == 0 {
		return ""
	}
	return fmt.Sprintf("\n  bounds here: each tensor moved once at a copy's rate %s, all arithmetic on plain units %s\n", race.Microseconds(memory), race.Microseconds(adds))
}

// picture has a line for each rung, for who races beside the last, and for the bounds: how many
// times as fast as the first rung.
func picture(l bench.Ladder, rungs []rung, t race.SelfTest) (f figure.Figure) {
	f.Title, f.X = "The ladder "+l.Name+": "+l.Workload.Name, "times as fast as the first rung (median, and the quartiles)"
	first := rungs[0].took()
	if first == 0 {
		return f
	}
	bar := func(name, label string, s timing.Stats) {
		if s.N > 0 {
			f.Bars = append(f.Bars, figure.Bar{Name: name, Label: label, Value: first / s.Median, Low: first / s.Q3, High: first / s.Q1})
		}
	}
	for _, r := range rungs {
		if r.took() > 0 {
			bar("rungs", r.title, r.Entries[0].Stats)
		}
	}
	last := rungs[len(rungs)-1].Row
	for _, e := range last.Entries[1:] {
		if e.Wrong == "" {
			bar("others", e.Name, e.Stats)
		}
	}
	memory, adds := floors(last, t)
	for _, bound := range []struct {
		label string
		ns    float64
	}{{"bound: memory, at a copy's rate", memory}, {"bound: arithmetic on plain units", adds}} {
		if bound.ns > 0 {
			bar("bounds", bound.label, timing.Stats{N: 1, Median: bound.ns, Q1: bound.ns, Q3: bound.ns})
		}
	}
	return f
}
