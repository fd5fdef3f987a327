package show

import (
	"fmt"
	"slices"
	"strings"

	"flashlab/device/trace"
)

// tiling is the part of a page that is about tiles.
type tiling struct {
	Queries, Keys int
	Tiles         []tileMark
	More          int // tiles that are not drawn
	Pictures      []picture
	Facts         []fact
	Advice        []string
	Fine          bool // the advice is that there is nothing to do
	Says          string
}

// tileMark is a tile of scores in the plane of queries and keys.
type tileMark struct {
	X, Y, W, H int
	Number     int
	Wasted     bool   // the mask hides all of it
	Hidden     string // the path of what the mask hides
	Title      string
}

// Shade is how strong its colour is, of so many tiles.
func (m tileMark) Shade(of int) string {
	return fmt.Sprintf("%.2f", 0.2+0.75*float64(m.Number)/float64(of))
}

const mostTiles = 4096

// tilingOf draws what a record says.
func tilingOf(r Run) (*tiling, []bar) {
	w, err := follow(*r.Tiled)
	if err != nil {
		return &tiling{Says: err.Error()}, nil
	}
	t := &tiling{Queries: r.Tiled.Matrices[matrixQ].Dims[0], Keys: r.Tiled.Matrices[matrixK].Dims[0]}
	for i, s := range w.steps {
		if i == mostTiles {
			t.More = len(w.steps) - i
			break
		}
		t.Tiles = append(t.Tiles, s.mark(i+1))
	}
	t.Says = fmt.Sprintf("%s of scores, %d queries by %d keys", plural(len(w.steps), "tile"), t.Queries, t.Keys)
	for i, m := range r.Tiled.Matrices {
		for _, use := range []struct {
			verb  string
			times []uint64
		}{{"read", w.read[i]}, {"written", w.written[i]}} {
			if slices.ContainsFunc(use.times, func(n uint64) bool { return n > 0 }) {
				t.Pictures = append(t.Pictures, rowsOf(m, use.verb, use.times))
			}
		}
	}
	t.Facts = []fact{
		{Value: count(uint64(len(w.steps))), Name: "tiles of scores", Note: fmt.Sprintf("at most %d × %d", r.Tiled.Rows, r.Tiled.Keys)},
		{Value: bytesOf(uint64(w.used)), Name: "of SRAM", Note: fmt.Sprintf("of the %s that there are", bytesOf(uint64(r.Tiled.Room)))},
		{Value: count(uint64(w.asked["Load"])), Name: "loads", Note: plural(w.asked["Store"], "store")},
	}
	if r.Moved > 0 {
		t.Facts = append(t.Facts, fact{Value: ratio(float64(w.flops) / float64(r.Moved)), Name: "operations a byte", Note: "of the two products"})
	}
	t.advise(r, w)
	return t, r.tileBars(w)
}

// mark draws a step. Mask hides the columns behind the diagonal.
func (s step) mark(number int) tileMark {
	m := tileMark{X: s.key, Y: s.query, W: s.keys, H: s.queries, Number: number,
		Title: fmt.Sprintf("tile %d: queries %d to %d, keys %d to %d", number, s.query, s.query+s.queries-1, s.key, s.key+s.keys-1)}
	hidden := s.hidden()
	if hidden == 0 {
		return m
	}
	m.Wasted = hidden == s.queries*s.keys
	m.Title += fmt.Sprintf("; the mask hides %d of its %d scores", hidden, s.queries*s.keys)
	var path strings.Builder
	for i := range s.queries {
		if from := min(s.keys, max(0, i+s.diagonal+1)); from < s.keys {
			fmt.Fprintf(&path, "M%d %dh%dv1h-%dz", s.key+from, s.query+i, s.keys-from, s.keys-from)
		}
	}
	m.Hidden = path.String()
	return m
}

// rowsOf draws how often each row of a matrix was moved.
func rowsOf(m Shape, verb string, times []uint64) picture {
	row := 4 * m.Dims[1]
	a := trace.ArrayUse{Name: m.Name, Bytes: row * len(times), Part: row}
	for _, n := range times {
		a.Runs = append(a.Runs, trace.ArrayRun{Parts: 1, Read: n * uint64(m.Dims[1]), Readers: 1})
	}
	g := gridOfUse(a, len(times), row, func(run trace.ArrayRun) (uint64, int) { return run.Read, run.Readers })
	says := strings.TrimSuffix(g.says(verb), ", by one block")
	return picture{Name: m.Name, Shape: fmt.Sprintf("%d × %d", len(times), m.Dims[1]), Verb: verb, Says: strings.Replace(strings.Replace(says, "words", "rows", 1), "word", "row", 1),
		Hot: g.most > 1, W: g.w, H: g.h, Shades: g.shades()}
}

// tileBars are the least bytes and those moved, by matrix.
func (r Run) tileBars(w walk) []bar {
	var all []kernel
	for i, m := range r.Tiled.Matrices {
		k := kernel{Name: m.Name}
		for _, times := range [][]uint64{w.read[i], w.written[i]} {
			for _, n := range times {
				k.moved += 4 * n * uint64(m.Dims[1])
			}
		}
		all = append(all, k)
	}
	return barsOf(r, all)
}
