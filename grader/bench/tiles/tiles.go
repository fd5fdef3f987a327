// Package tiles draws the tile sizes that `grader tune` has tried.
package tiles

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"flashlab/grader/grading/verdict"
)

// Picture is what the plot shows.
type Picture struct{ title, x, y, table string }

// Of draws what the ranking is based on, with a line for each tile of keys. On a GPU
// this is the time over the tile of queries; in the simulator it is the two counts
// against each other, so that the best is in the lower left corner.
func Of(tried []verdict.Tuned, dim int, gpu bool) Picture {
	p := Picture{x: "bytes moved, × the least", y: "bank passes, millions"}
	if gpu {
		p.x, p.y = "queries in a tile", "time, µs"
	}
	p.title = fmt.Sprintf("Tiles at head dimension %d: queries at the dots, keys by colour", dim)
	if gpu {
		p.title = fmt.Sprintf("Tiles at head dimension %d", dim)
	}
	right := slices.DeleteFunc(slices.Clone(tried), func(t verdict.Tuned) bool { return t.Wrong != "" })
	slices.SortFunc(right, func(a, b verdict.Tuned) int {
		if a.Tiles.Keys != b.Tiles.Keys {
			return a.Tiles.Keys - b.Tiles.Keys
		}
		return a.Tiles.Queries - b.Tiles.Queries
	})
	var table strings.Builder
	for _, t := range right {
		x, y := t.Ratio, float64(t.Passes)/1e6
		if gpu {
			x, y = float64(t.Tiles.Queries), float64(t.Time.Nanoseconds())/1e3
		}
		if x > 0 && y > 0 { // the axes are logarithmic
			fmt.Fprintf(&table, "•%d keys\t%g\t%g", t.Tiles.Keys, x, y)
			if !gpu {
				fmt.Fprintf(&table, "\t%d", t.Tiles.Queries)
			}
			table.WriteString("\n")
		}
	}
	p.table = table.String()
	return p
}

// Draw runs the plot's program, which is built only when it is wanted.
func (p Picture) Draw(ctx context.Context, root string) error {
	if p.table == "" {
		return nil // no tiles are right
	}
	cmd := exec.CommandContext(ctx, "go", "run", "./grader/bench/plot", "-title", p.title, "-x", p.x, "-y", p.y,
		"-o", filepath.Join("out", "tune.png"), "-room")
	cmd.Dir = root
	cmd.Stdin = strings.NewReader(p.table)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("the picture could not be drawn: %w\n%s", err, out)
	}
	fmt.Print(string(out))
	return nil
}
