package show

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"flashlab/device/trace"
	"flashlab/grader/grading/verdict"
	"flashlab/internal/code"
)

// page is what the template draws.
type page struct {
	Run
	Ratio   string // moved over least
	Bars    []bar
	Kernels []kernel
	Left    int             // kernels that are not on the page
	Lost    []trace.Finding // those of no kernel
	Columns []column
	Tiles   *tiling
}

// bar is one of those beside each other at the top: pieces add up to it.
type bar struct {
	Name, Says string
	Share      float64
	Pieces     []piece
}

type piece struct {
	Name  string
	Share float64 // of the bar
	Shade int
}

// kernel is one tab.
type kernel struct {
	Number   int
	Name     string
	Launched string // "17 blocks of 256 threads"
	Facts    []fact
	Advice   []advice
	Findings []shownFinding
	Files    []file
	Banked   []banked
	Pictures []picture
	More     bool // pictures that are not there
	Time     *timeline
	moved    uint64
}

type fact struct{ Value, Name, Note string }

// advice is what to do about a line.
type advice struct {
	ID, Line, Text string
	Fine           bool // there is nothing to do
}

type file struct {
	Path string
	Rows []row
}

// shownFinding is a finding, and other the far side of one.
type shownFinding struct {
	trace.Finding
	ID    string
	Notes []string // that the picture of a race does not tell
	Sides []side
}

type side struct {
	trace.Side
	Goes string // where a link leads
}

type other struct {
	ID   string
	Line int
	Side trace.Side
}

const mostFindings = 40 // of a kernel

func pageOf(r Run, room room) page {
	p := page{Run: r, Columns: columns}
	if r.Least > 0 && r.Moved > 0 {
		p.Ratio = ratio(float64(r.Moved) / float64(r.Least))
	}
	if r.Tiled != nil {
		p.Tiles, p.Bars = tilingOf(r)
		return p
	}
	for _, name := range kernelNames(r) {
		p.Kernels = append(p.Kernels, kernelOf(r, name))
	}
	slices.SortStableFunc(p.Kernels, func(a, b kernel) int { return cmp.Compare(b.moved, a.moved) })
	p.Bars = barsOf(r, p.Kernels)
	if n := len(p.Kernels); n > room.kernels {
		p.Kernels, p.Left = p.Kernels[:room.kernels], n-room.kernels
	}
	texts := map[string][][]code.Span{} // by path: kernels share files
	for i := range p.Kernels {
		p.Kernels[i].Number = i
		p.Kernels[i].fill(r, room, texts)
	}
	for _, f := range r.Findings {
		if f.Kernel == "" {
			p.Lost = append(p.Lost, f)
		}
	}
	return p
}

// kernelNames are those that ran to their end, and those in which something was found.
func kernelNames(r Run) (names []string) {
	for _, c := range r.Counts {
		names = append(names, c.Kernel)
	}
	for _, f := range r.Findings {
		if f.Kernel != "" && !slices.Contains(names, f.Kernel) {
			names = append(names, f.Kernel)
		}
	}
	return names
}

func (r Run) countsOf(kernel string) trace.Counts {
	i := slices.IndexFunc(r.Counts, func(c trace.Counts) bool { return c.Kernel == kernel })
	if i < 0 {
		return trace.Counts{Kernel: kernel}
	}
	return r.Counts[i]
}

func movedBy(c trace.Counts) uint64 {
	return sector*(c.SectorsRead+c.SectorsWritten) + 2*c.Spilled
}

// barsOf are the least bytes and those moved, each as long as it has bytes.
func barsOf(r Run, kernels []kernel) []bar {
	if r.Moved == 0 || r.Least == 0 {
		return nil
	}
	most := float64(max(r.Moved, r.Least))
	least := bar{Name: "the least that any kernel moves", Says: bytesOf(r.Least), Share: float64(r.Least) / most, Pieces: []piece{{Share: 1}}}
	if r.Tiled != nil {
		least.Name = "each matrix once"
	}
	if r.Against != "" {
		least.Name = r.Against
	}
	moved := bar{Name: "moved here", Says: bytesOf(r.Moved), Share: float64(r.Moved) / most}
	for i, k := range kernels {
		if k.moved > 0 {
			moved.Pieces = append(moved.Pieces, piece{k.Name, float64(k.moved) / float64(r.Moved), 1 + i%4})
		}
	}
	return []bar{least, moved}
}

// id is a line's: each kernel has its own copy of the source.
func (k kernel) id(p place) string {
	plain := func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' {
			return c
		}
		return '-'
	}
	return fmt.Sprintf("k%d-%s-%d", k.Number, strings.Map(plain, p.file), p.line)
}

// fill writes the source of a kernel, and what is said about it.
func (k *kernel) fill(r Run, room room, texts map[string][][]code.Span) {
	c := r.countsOf(k.Name)
	lines := byLine(c, r.Times[k.Name])
	found := map[place][]shownFinding{}
	others := map[place][]other{}
	var names []string // of files
	see := func(p place) {
		if p.line > 0 && !slices.Contains(names, p.file) {
			names = append(names, p.file)
		}
	}
	for p := range lines {
		see(p)
	}
	slices.Sort(names) // maps have no order
	for _, f := range r.Findings {
		if f.Kernel != k.Name || len(k.Findings) == mostFindings {
			continue
		}
		s := k.shownOf(f)
		at := place{f.File, f.Line}
		see(at)
		k.Findings = append(k.Findings, s)
		found[at] = append(found[at], s)
		if len(f.Sides) == 2 && (f.Sides[0].Line != f.Line || f.Sides[0].File != f.File) {
			far := f.Sides[0]
			see(place{far.File, far.Line})
			others[place{far.File, far.Line}] = append(others[place{far.File, far.Line}], other{s.ID, f.Line, far})
		}
	}
	worst := map[place]bool{}
	for _, l := range verdict.Worst([]trace.Counts{c}) {
		why := l.Why(r.Least)
		if l.Shared {
			why = l.Banks()
		}
		if why == "" {
			continue
		}
		at := place{l.File, l.Line}
		worst[at] = true
		where, text, _ := strings.Cut(why, ": ")
		k.Advice = append(k.Advice, advice{ID: k.id(at), Line: where, Text: text})
	}
	if len(k.Advice) == 0 && k.moved > 0 {
		k.Advice = k.largest(lines)
	}
	if s := c.Samples; s != nil && room.drawn {
		k.Banked, k.Time = k.bankedOf(s, lines), k.timelineOf(s.Timeline)
		k.Pictures, k.More = r.picturesOf(c)
	}
	most := mostOf(lines)
	for _, name := range names {
		src, there := r.sourceOf(name, k.Name)
		if !there {
			continue
		}
		f := file{Path: src.Path}
		if texts[src.Path] == nil {
			texts[src.Path] = code.Lines(src.Text)
		}
		for i, line := range texts[src.Path] {
			at := place{name, i + 1}
			one := row{Number: i + 1, Code: line, Worst: worst[at], Findings: found[at], Other: others[at], ID: k.id(at)}
			if w := lines[at]; w != nil {
				one.Cells = w.cells(most)
			}
			f.Rows = append(f.Rows, one)
		}
		f.Rows = folded(f.Rows, room.quiet)
		k.Files = append(k.Files, f)
	}
}

// largest tells of the line that moves most, where nothing is wrong with any.
func (k kernel) largest(lines map[place]*work) []advice {
	var at place
	for p, w := range lines {
		if best := lines[at]; best == nil || w.moved > best.moved || w.moved == best.moved && p.line < at.line {
			at = p
		}
	}
	w := lines[at]
	if w == nil || w.moved == 0 || at.line == 0 {
		return nil
	}
	text := fmt.Sprintf("moves most: %.0f %% of this kernel's bytes", 100*float64(w.moved)/float64(k.moved))
	if w.spare*20 <= w.moved {
		text += ", and hardly any are wasted: neighbouring threads have neighbouring addresses"
	}
	return []advice{{ID: k.id(at), Line: fmt.Sprintf("%s:%d", at.file, at.line), Text: text, Fine: true}}
}

func (k kernel) shownOf(f trace.Finding) shownFinding {
	s := shownFinding{Finding: f, ID: k.id(place{f.File, f.Line}), Notes: f.Notes}
	if len(f.Sides) == 2 && len(s.Notes) > 0 {
		s.Notes = s.Notes[1:] // the sides in words
		for _, one := range f.Sides {
			s.Sides = append(s.Sides, side{one, k.id(place{one.File, one.Line})})
		}
	}
	return s
}

// Found is how many findings there are.
func (p page) Found() int { return len(p.Run.Findings) }
