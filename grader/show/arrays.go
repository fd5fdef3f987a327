package show

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"flashlab/device/trace"
)

// Shape is that of an array that a case hands to the kernels, by its name.
type Shape struct {
	Name  string
	Dims  []int
	Bytes int // of all of it
}

// picture is how often each part of an array was read, or written.
type picture struct {
	Name, Shape string // "x", "17 × 113"
	Verb        string // "read"
	Says        string
	Hot         bool // parts went through device memory more than once
	W, H        int
	Shades      []shade
}

// shade are all cells that were used about as often, as lines of an SVG's path.
type shade struct {
	Level int // 0 is never, 1 once, 2 up to 2, 3 up to 4, …
	Path  string
}

const (
	mostSide     = 64 // cells along each side of a picture, at most
	mostPictures = 8  // of a kernel
	mostLevel    = 8
)

// levelOf is the shade of a number of times.
func levelOf(times float64) int {
	switch {
	case times <= 0:
		return 0
	case times <= 1:
		return 1
	}
	return min(mostLevel, 1+bits.Len64(uint64(times+0.999)-1))
}

// levelNames are what the legend says.
var levelNames = []string{"never", "once", "2", "4", "8", "16", "32", "64", "more"}

// grid is an array's cells, with what their words add up to.
type grid struct {
	w, h          int
	words, sums   []float64
	least, most   float64 // times that a cell was used
	total         uint64
	blocks, parts int // blocks of the part that most blocks used
}

func (g *grid) add(x, y int, words float64, used uint64, blocks int) {
	at := y*g.w + x
	g.words[at] += words
	g.sums[at] += float64(used)
	each := float64(used) / words
	if g.parts == 0 || each < g.least {
		g.least = each
	}
	g.most = max(g.most, each)
	g.total += used
	g.blocks = max(g.blocks, blocks)
	g.parts++
}

// sized says how many cells there are, of an array of so many rows and bytes a row; and of the same
// in lines of cells where it is one row.
func sized(rows, row, part int) (w, h int) {
	parts := (rows*row + part - 1) / part
	switch {
	case rows <= 1: // as one reads: line after line
		w = min(mostSide, parts)
		return w, min(mostSide, (parts+w-1)/w)
	case part > row:
		return 1, min(mostSide, parts)
	case row%part != 0:
		return max(1, min(mostSide, row/part/2)), min(mostSide, rows)
	}
	return min(mostSide, row/part), min(mostSide, rows)
}

// gridOfUse sums parts into cells.
func gridOfUse(a trace.ArrayUse, rows, row int, of func(trace.ArrayRun) (uint64, int)) grid {
	g := grid{}
	g.w, g.h = sized(rows, row, a.Part)
	g.words, g.sums = make([]float64, g.w*g.h), make([]float64, g.w*g.h)
	parts := (a.Bytes + a.Part - 1) / a.Part
	i := 0
	for _, r := range a.Runs {
		used, blocks := of(r)
		for range r.Parts {
			if i >= parts {
				return g
			}
			start := i * a.Part
			words := float64((min(a.Part, a.Bytes-start) + 3) / 4)
			x, y := 0, start/row*g.h/rows
			switch {
			case rows <= 1:
				cell := i * min(parts, g.w*g.h) / parts
				x, y = cell%g.w, cell/g.w
			case a.Part <= row:
				x = start % row * g.w / row
			}
			g.add(min(x, g.w-1), min(y, g.h-1), words, used, blocks)
			i++
		}
	}
	return g
}

// shades are the cells as strokes, beside each other where they are alike.
func (g grid) shades() (all []shade) {
	paths := make([]strings.Builder, mostLevel+1)
	for y := range g.h {
		for x := 0; x < g.w; {
			level, from := g.level(x, y), x
			for x < g.w && g.level(x, y) == level {
				x++
			}
			if level >= 0 {
				fmt.Fprintf(&paths[level], "M%d %d.5h%d", from, y, x-from)
			}
		}
	}
	for i := range paths {
		if paths[i].Len() > 0 {
			all = append(all, shade{i, paths[i].String()})
		}
	}
	return all
}

// level is -1 where there is nothing of the array.
func (g grid) level(x, y int) int {
	at := y*g.w + x
	if g.words[at] == 0 {
		return -1
	}
	return levelOf(g.sums[at] / g.words[at])
}

// picturesOf draws the arrays that most words were read from and written to.
func (r Run) picturesOf(c trace.Counts) (all []picture, more bool) {
	type drawn struct {
		picture
		total uint64
	}
	var some []drawn
	for _, a := range c.Samples.Arrays {
		if a.Part <= 0 || a.Bytes <= 0 {
			continue
		}
		for _, verb := range []string{"read", "written"} {
			rows, row, shape := r.shapeOf(a)
			g := gridOfUse(a, rows, row, func(run trace.ArrayRun) (uint64, int) {
				if verb == "read" {
					return run.Read, run.Readers
				}
				return run.Written, run.Writers
			})
			if g.total > 0 {
				some = append(some, drawn{picture{Name: a.Name, Shape: shape, Verb: verb, Says: g.says(verb), Hot: g.most > 1, W: g.w, H: g.h, Shades: g.shades()}, g.total})
			}
		}
	}
	slices.SortStableFunc(some, func(a, b drawn) int { return cmp.Compare(b.total, a.total) })
	for _, one := range some[:min(len(some), mostPictures)] {
		all = append(all, one.picture)
	}
	return all, c.Samples.MoreArrays || len(some) > len(all)
}

// shapeOf is an array as rows, and bytes a row.
func (r Run) shapeOf(a trace.ArrayUse) (rows, row int, shape string) {
	i := slices.IndexFunc(r.Shapes, func(s Shape) bool { return s.Name == a.Name && s.Bytes == a.Bytes })
	if i < 0 || len(r.Shapes[i].Dims) == 0 {
		return 1, a.Bytes, bytesOf(uint64(a.Bytes))
	}
	rows = 1
	var words []string
	dims := r.Shapes[i].Dims
	for j, n := range dims {
		words = append(words, fmt.Sprint(n))
		if j < len(dims)-1 {
			rows *= n
		}
	}
	shape = strings.Join(words, " × ")
	if rows < 1 || a.Bytes%rows != 0 || a.Bytes/rows == 0 {
		return 1, a.Bytes, shape
	}
	return rows, a.Bytes / rows, shape
}

func (g grid) says(verb string) string {
	words := 0.0
	for _, n := range g.words {
		words += n
	}
	mean := float64(g.total) / words
	text := fmt.Sprintf("each word %s ×", ratio(mean))
	switch {
	case g.least == g.most && g.most == 1:
		text = "each word once"
	case g.least != g.most:
		text = fmt.Sprintf("words %s to %s ×, %s on average", ratio(g.least), ratio(g.most), ratio(mean))
	}
	if g.blocks > 1 {
		return text + fmt.Sprintf(", by up to %s blocks", count(uint64(g.blocks)))
	}
	return text + ", by one block"
}
