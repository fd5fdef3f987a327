package show

import (
	"fmt"
	"slices"
	"strings"

	"flashlab/device/trace"
	"flashlab/grader/grading/verdict"
	"flashlab/internal/code"
)

const sector = 32 // bytes

// work is what one line of a kernel did.
type work struct {
	asked, moved, spare     uint64 // bytes of device memory; spare are those that neighbouring addresses would save
	requests, sectors, need uint64 // of device memory, with the least sectors for what was asked
	shared, passes, once    uint64 // requests of shared memory, passes of its banks, and how many would do
	lanes                   uint64 // accesses of threads, to either memory
	barriers, steps         uint64
	time                    float64 // share of the kernel's
}

func (w *work) add(l trace.LineCounts) {
	v := verdict.Line{Op: l.Op, Shared: l.Shared, Requests: l.Requests, Bytes: l.Bytes, Sectors: l.Sectors, Passes: l.Passes}
	w.lanes += l.Lanes
	if l.Shared {
		w.shared += l.Requests
		w.passes += l.Passes
		w.once += l.Passes - v.Conflicts()
		return
	}
	need := min(l.Sectors, l.Requests*v.Would())
	w.asked += l.Bytes
	w.moved += sector * l.Sectors
	w.spare += sector * (l.Sectors - need)
	w.requests += l.Requests
	w.sectors += l.Sectors
	w.need += need
}

// place is a line of a file.
type place struct {
	file string
	line int
}

// byLine sums up a kernel's counts.
func byLine(c trace.Counts, t Time) map[place]*work {
	lines := map[place]*work{}
	at := func(file string, line int) *work {
		p := place{file, line}
		if lines[p] == nil {
			lines[p] = &work{}
		}
		return lines[p]
	}
	for _, l := range c.LineCounts {
		if l.Requests > 0 {
			at(l.File, l.Line).add(l)
		}
	}
	for _, s := range c.LineSteps {
		w := at(s.File, s.Line)
		w.steps += s.Steps
		w.barriers += s.Barriers
	}
	for _, l := range t.Lines {
		if w := lines[place{l.File, l.Line}]; w != nil {
			w.time = l.Share
		}
	}
	return lines
}

// cell is one number of a line, and a bar behind it.
type cell struct {
	Text, Least string  // Least is what would have done; "" where that is it
	Bar, Spare  float64 // shares of the column's largest; Spare of the bar could be saved
	Bad         bool
	Few         bool // too few to be worth a phone's room
}

// columns are the names of a line's cells, in their order.
var columns = []column{
	{"moved", "bytes that went to and from device memory for this line, in sectors of 32 bytes; in red, those that it could do without if neighbouring threads had neighbouring addresses"},
	{"asked for", "bytes of device memory that its threads asked for"},
	{"sectors a request", "how many sectors of 32 bytes one request of a warp touches, and in brackets how many would do"},
	{"bank passes", "how many passes of shared memory's 32 banks a request takes, and in brackets how many would do"},
	{"requests", "of warps, for device memory and shared memory"},
	{"lanes", "how many of a warp's 32 threads take part in a request, on average"},
	{"barriers", "how often a block's threads met here"},
	{"steps", "accesses of threads, arrivals at barriers and stretches of code begun: what a thread does"},
	{"time", "the line's share of the time that the kernel would take on a GPU, as it is estimated"},
}

type column struct{ Name, Says string }

// mostOf are the largest numbers of any line, which bars are drawn against.
func mostOf(lines map[place]*work) (m work) {
	for _, w := range lines {
		m.asked = max(m.asked, w.asked)
		m.moved = max(m.moved, w.moved)
		m.requests = max(m.requests, w.requests+w.shared)
		m.steps = max(m.steps, w.steps)
		m.barriers = max(m.barriers, w.barriers)
		m.time = max(m.time, w.time)
	}
	return m
}

// cells are a line's, with nil for what it does not do.
func (w work) cells(most work) []*cell {
	share := func(a, b uint64) float64 { return float64(a) / float64(max(b, 1)) }
	all := make([]*cell, len(columns))
	if w.requests > 0 {
		all[0] = &cell{Text: bytesOf(w.moved), Bar: share(w.moved, most.moved), Spare: share(w.spare, w.moved)}
		all[1] = &cell{Text: bytesOf(w.asked), Bar: share(w.asked, most.asked)}
		all[2] = of(w.sectors, w.need, w.requests)
	}
	if w.shared > 0 {
		all[3] = of(w.passes, w.once, w.shared)
	}
	if n := w.requests + w.shared; n > 0 {
		all[4] = &cell{Text: count(n), Bar: share(n, most.requests)}
		lanes := min(32, share(w.lanes, n))
		all[5] = &cell{Text: ratio(lanes), Bad: lanes < 16}
	}
	if w.barriers > 0 {
		all[6] = &cell{Text: count(w.barriers), Bar: share(w.barriers, most.barriers)}
	}
	if w.steps > 0 {
		all[7] = &cell{Text: count(w.steps), Bar: share(w.steps, most.steps), Few: 10*w.steps < most.steps}
	}
	if w.time >= 0.005 {
		all[8] = &cell{Text: fmt.Sprintf("%.0f %%", 100*w.time), Bar: w.time / most.time, Few: 10*w.time < most.time}
	}
	return all
}

// of is a number a request beside what would do. The bar's end is 32: the worst there can be.
func of(n, least, requests uint64) *cell {
	each, would := float64(n)/float64(requests), float64(least)/float64(requests)
	c := &cell{Text: ratio(each), Bar: min(1, each/32), Spare: 1 - would/each, Bad: each >= 2*would}
	if ratio(would) != c.Text {
		c.Least = ratio(would)
	}
	return c
}

// row is a line of source on the page.
type row struct {
	ID       string
	Number   int
	Code     []code.Span
	Cells    []*cell
	Worst    bool           // advice is about it
	Findings []shownFinding // what was found here
	Other    []other        // races whose other side is here
	Folded   int            // how many lines are folded away in its place; then only Lines is set
	Lines    []row
}

func (r row) quiet() bool {
	return !r.Worst && len(r.Findings) == 0 && len(r.Other) == 0 && !slices.ContainsFunc(r.Cells, func(c *cell) bool { return c != nil })
}

const (
	around  = 4 // lines that stay around one that does something
	fewest  = 6 // lines that are worth folding
	allText = 60
)

// folded puts lines that do nothing, and have none near them that does, behind one row.
func folded(rows []row, quiet bool) (kept []row) {
	if len(rows) <= allText {
		return rows
	}
	near := make([]bool, len(rows))
	for i, r := range rows {
		if !r.quiet() {
			for j := max(0, i-around); j <= min(len(rows)-1, i+around); j++ {
				near[j] = true
			}
		}
	}
	for i := 0; i < len(rows); {
		j := i
		for j < len(rows) && near[j] == near[i] {
			j++
		}
		if near[i] || j-i < fewest {
			kept = append(kept, rows[i:j]...)
		} else if fold := (row{Folded: j - i}); quiet {
			fold.Lines = rows[i:j]
			kept = append(kept, fold)
		} else {
			kept = append(kept, fold)
		}
		i = j
	}
	return kept
}

// sourceOf finds the file that a kernel of this name would be in.
func (r Run) sourceOf(file, kernel string) (Source, bool) {
	kernel, _, _ = strings.Cut(kernel, "<")
	var found []Source
	for _, s := range r.Sources {
		if s.Name == file {
			found = append(found, s)
		}
	}
	if i := slices.IndexFunc(found, func(s Source) bool { return strings.Contains(s.Text, kernel+"(") }); i >= 0 {
		return found[i], true
	}
	if len(found) > 0 {
		return found[0], true
	}
	return Source{}, false
}
