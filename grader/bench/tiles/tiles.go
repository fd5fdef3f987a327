// Package tiles draws the tile sizes that `grader tune` has tried.
package tiles

import (
	"fmt"
	"slices"

	"flashlab/grader/grading/verdict"
	"flashlab/internal/figure"
)

// Of draws what the ranking goes by, a line for each tile of keys: on a GPU
// the time over the tile of queries, in the simulator the two counts against each
// other, so that the best lies in the lower left corner.
func Of(tried []verdict.Tuned, dim int, gpu bool) figure.Figure {
	f := figure.Figure{X: "bytes moved, × the least", Y: "bank passes, millions", Room: true}
	if gpu {
		f.X, f.Y = "queries in a tile", "time, µs"
	}
	f.Title = fmt.Sprintf("Tiles at head dimension %d: queries at the dots, keys by colour", dim)
	if gpu {
		f.Title = fmt.Sprintf("Tiles at head dimension %d", dim)
	}
	right := slices.DeleteFunc(slices.Clone(tried), func(t verdict.Tuned) bool { return t.Wrong != "" })
	slices.SortFunc(right, func(a, b verdict.Tuned) int {
		if a.Tiles.Keys != b.Tiles.Keys {
			return a.Tiles.Keys - b.Tiles.Keys
		}
		return a.Tiles.Queries - b.Tiles.Queries
	})
	for _, t := range right {
		at := figure.Point{X: t.Ratio, Y: float64(t.Passes) / 1e6}
		if highest(t, right) {
			at.Word = fmt.Sprint(t.Tiles.Queries)
		}
		if gpu {
			at = figure.Point{X: float64(t.Tiles.Queries), Y: float64(t.Time.Nanoseconds()) / 1e3}
		}
		if at.X > 0 && at.Y > 0 { // the axes are logarithmic
			f.Add(fmt.Sprintf("%d keys", t.Tiles.Keys), figure.Line, at)
		}
	}
	return f
}

// highest tells whether no tile with the same queries and bytes has more passes: their dots stand one above the other, and a
// word at each would hide the rest.
func highest(t verdict.Tuned, all []verdict.Tuned) bool {
	return !slices.ContainsFunc(all, func(o verdict.Tuned) bool {
		return o.Tiles.Queries == t.Tiles.Queries && o.Ratio == t.Ratio && (o.Passes > t.Passes || o.Passes == t.Passes && o.Tiles.Keys < t.Tiles.Keys)
	})
}

// Parts draws what splitting a step costs or gains: on a GPU the time over the parts, in the simulator
// the bytes moved.
func Parts(tried []verdict.Tuned, about string, gpu bool) figure.Figure {
	f := figure.Figure{Title: about, X: "parts", Y: "bytes moved, × the least", Room: true}
	if gpu {
		f.Y = "time, µs"
	}
	right := slices.DeleteFunc(slices.Clone(tried), func(t verdict.Tuned) bool { return t.Wrong != "" })
	slices.SortFunc(right, func(a, b verdict.Tuned) int { return a.Parts - b.Parts })
	for _, t := range right {
		at := figure.Point{X: float64(t.Parts), Y: t.Ratio}
		if gpu {
			at.Y = float64(t.Time.Nanoseconds()) / 1e3
		}
		if at.Y > 0 { // the axes are logarithmic
			name := "a step"
			if t.Tiles.Keys > 0 {
				name = fmt.Sprintf("tiles of %d keys", t.Tiles.Keys)
			}
			f.Add(name, figure.Line, at)
		}
	}
	return f
}
