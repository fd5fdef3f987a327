package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"flashlab/device"
	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
	"flashlab/grader/grading/race"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/supervise"
	"flashlab/grader/grading/verdict"
	"flashlab/grader/grading/wire"
	"flashlab/tensor"
)

// parts that decoding is tried in, and the keys of a tile, where a submission can be made for several.
var (
	parts     = []int{1, 2, 4, 8, 16, 32, 64}
	tileSizes = []int{16, 32, 64, 128}
)

// Splits tells whether a task decodes in parts.
func Splits(t *rubric.Task) bool {
	return slices.ContainsFunc(t.Checks, func(c rubric.Check) bool { return c.Op == "split" })
}

// TuneParts tries in how many parts a step should be split over its keys, with tiles of several sizes where NewTiled is
// written: each must first be right. On
// a GPU a single sequence of so many tokens is timed, and ranked by that; in the simulator, where a
// smaller one runs, by the bytes that are moved: there splitting only costs.
func TuneParts(ctx context.Context, o Options, dim, tokens int) (tried []verdict.Tuned, err error) {
	if dim < 1 || dim > 128 {
		return nil, fmt.Errorf("a head dimension of %d: want 1 to 128", dim)
	}
	op, err := o.Ops.Find("split")
	if err != nil {
		return nil, err
	}
	r, closed, err := Open(ctx, o, TurnTime)
	if err != nil {
		return nil, err
	}
	defer closed()
	all, err := o.choices(ctx, r, op)
	if err != nil {
		return nil, err
	}
	for i, one := range all {
		if o.Devices.Kind == device.CUDA {
			err = o.raceParts(ctx, r, dim, tokens, &one)
		} else {
			err = o.tryParts(ctx, r, op, dim, tokens, &one)
		}
		if err != nil {
			return nil, err
		}
		tried = append(tried, one)
		if o.Progress != nil {
			o.Progress(i+1, len(all), fmt.Sprintf("%d parts", one.Parts))
		}
	}
	slices.SortStableFunc(tried, func(a, b verdict.Tuned) int {
		return cmp.Or(cmp.Compare(min(len(a.Wrong), 1), min(len(b.Wrong), 1)), cmp.Compare(a.Time, b.Time), cmp.Compare(a.Ratio, b.Ratio), cmp.Compare(a.Parts, b.Parts), cmp.Compare(a.Tiles.Keys, b.Tiles.Keys))
	})
	return tried, nil
}

// choices are the parts, and each with every size of tiles if the code can be made for one.
func (o Options) choices(ctx context.Context, r *supervise.Runner, op judge.Op) (all []verdict.Tuned, err error) {
	first := verdict.Tuned{Parts: 1, Tiles: problem.Tiles{Keys: tileSizes[0]}}
	spec := judge.Spec{Shape: []int{1, 1, 1, 17, 16, 1}, Dist: tensor.Normal, Each: []int{17}}
	res, _, err := o.tuneCase(ctx, r, op, &first, spec, 0)
	if err != nil {
		return nil, err
	}
	sizes := tileSizes
	if res.Error != nil && res.Error.Class == wire.NotImplemented {
		sizes = []int{0}
	}
	for _, keys := range sizes {
		for _, n := range parts {
			all = append(all, verdict.Tuned{Parts: n, Tiles: problem.Tiles{Keys: keys}})
		}
	}
	return all, nil
}

// raceParts times 32 heads of one sequence; pieces of each output are checked.
func (o Options) raceParts(ctx context.Context, r *supervise.Runner, dim, tokens int, one *verdict.Tuned) error {
	w := race.Workload{Name: "split", Task: o.Task.Name, Op: "split", Shape: []int{1, 32, 32, tokens, dim, one.Parts}, Traffic: true, Tiles: one.Tiles}
	const pieces = 2 // each takes all keys of a head to judge, which is most of what this waits for
	row, err := race.Measure(ctx, r, w, race.Options{Ops: o.Ops, Runs: reportRuns, Warm: speedWarm, Pieces: pieces, Seed: o.Seed})
	if err != nil {
		return err
	}
	if row.Left != "" || len(row.Entries) == 0 {
		one.Wrong = cmp.Or(row.Left, "nothing ran")
		return nil
	}
	e := row.Entries[0]
	if one.Wrong = cmp.Or(e.Wrong, e.Held, e.Not); one.Wrong == "" && e.Stats.N == 0 {
		return errors.New("no run was timed")
	}
	one.Time = time.Duration(e.Stats.Median)
	_, one.TBps = row.Rates(e.Stats.Median)
	return nil
}

// tryParts judges a step in the simulator, and counts.
func (o Options) tryParts(ctx context.Context, r *supervise.Runner, op judge.Op, dim, tokens int, one *verdict.Tuned) error {
	spec := judge.Spec{Shape: []int{1, 2, 2, tokens, dim, one.Parts}, Dist: tensor.Normal, Each: []int{tokens}}
	res, right, err := o.tuneCase(ctx, r, op, one, spec, 0)
	if err != nil || !right {
		return err
	}
	w, err := op.Case(spec, o.tuneSeed(), 1)
	if err != nil {
		return err
	}
	one.Ratio = float64(res.Seen.Moved()) / float64(op.Least(w))
	one.Conflicts, one.Passes = res.Seen.Conflicts(), res.Seen.Passes()
	return nil
}
