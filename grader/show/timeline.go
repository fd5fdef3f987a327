package show

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"

	"flashlab/device/trace"
)

// timeline is one block as bars: a row for each warp, a column for what came before each barrier.
type timeline struct {
	Block, Says string
	Tall        int
	Bars        []stretchBar
	Barriers    []barrierMark
	Warps       []warpRow
	Parting     []parting
	Left        int
}

// stretchBar is a warp between two barriers: it is as long as its longest lane took, and as tall as
// there were lanes in its requests.
type stretchBar struct {
	X, Y, Wide, Tall float64
	Apart            bool
	Title            string
}

type barrierMark struct {
	X     float64
	Line  int
	Named bool // there is room for its line
}

type warpRow struct {
	Y      float64
	Number int
}

// parting is a line that only some lanes of a warp came to.
type parting struct {
	ID, Line string
	Says     string
}

const (
	timeWide     = 1000.0
	warpTall     = 14.0
	warpApart    = 4.0
	labelApart   = 56.0
	mostPartings = 5
)

func (k kernel) timelineOf(t *trace.Timeline) *timeline {
	if t == nil || len(t.Stretches) == 0 || len(t.Stretches[0].Warps) == 0 {
		return nil
	}
	warps := len(t.Stretches[0].Warps)
	out := &timeline{Block: count(uint64(t.Block)), Left: t.Left, Tall: int(float64(warps) * (warpTall + warpApart))}
	for i := range warps {
		out.Warps = append(out.Warps, warpRow{float64(i) * (warpTall + warpApart), i})
	}
	all, busy, work := uint64(0), 0.0, 0.0 // steps of the longest warps; of every warp's lanes; of those that take part
	for _, s := range t.Stretches {
		all += longest(s)
		for i, w := range s.Warps {
			lanes := float64(w.Longest) * float64(lanesOf(t, i))
			busy += lanes
			work += lanes * shareOf(w, lanesOf(t, i))
		}
	}
	if all == 0 {
		return nil
	}
	x, named := 0.0, -labelApart
	for _, s := range t.Stretches {
		wide := timeWide * float64(longest(s)) / float64(all)
		for i, w := range s.Warps {
			if b, ok := barOf(t, w, i, wide/float64(max(longest(s), 1))); ok {
				b.X = x
				out.Bars = append(out.Bars, b)
			}
		}
		x += wide
		if s.Line > 0 {
			m := barrierMark{X: x, Line: s.Line, Named: x-named >= labelApart}
			if m.Named {
				named = x
			}
			out.Barriers = append(out.Barriers, m)
		}
	}
	whole := float64(all) * float64(t.Threads)
	met := plural(len(out.Barriers)+t.Left, "barrier")
	if len(out.Barriers) == 0 {
		met = "no barrier"
	}
	out.Says = fmt.Sprintf("%s, %s: %.0f %% of the threads' time is work, %.0f %% goes by while other lanes of a warp work, %.0f %% while warps wait for others",
		plural(warps, "warp"), met, 100*work/whole, 100*(busy-work)/whole, 100*(whole-busy)/whole)
	out.Parting = k.partingOf(t)
	return out
}

func longest(s trace.Stretch) (most uint64) {
	for _, w := range s.Warps {
		most = max(most, w.Longest)
	}
	return most
}

func lanesOf(t *trace.Timeline, warp int) int { return max(1, min(32, t.Threads-32*warp)) }

func barOf(t *trace.Timeline, w trace.WarpStretch, warp int, step float64) (stretchBar, bool) {
	if w.Longest == 0 {
		return stretchBar{}, false
	}
	lanes := lanesOf(t, warp)
	share := shareOf(w, lanes)
	b := stretchBar{Wide: max(1, step*float64(w.Longest)), Tall: max(2, warpTall*share), Apart: share < 0.9}
	b.Y = float64(warp)*(warpTall+warpApart) + warpTall - b.Tall
	b.Title = fmt.Sprintf("warp %d: %s steps", warp, count(w.Longest))
	if b.Apart {
		b.Title += fmt.Sprintf(", %s of %d lanes in a request on average", ratio(share*float64(lanes)), lanes)
	}
	return b, true
}

// shareOf is how many of a warp's lanes take part in a request, on average.
func shareOf(w trace.WarpStretch, lanes int) float64 {
	if w.Requests == 0 {
		return 1
	}
	return min(1, float64(w.Lanes)/float64(w.Requests)/float64(lanes))
}

// partingOf are the lines with the fewest lanes.
func (k kernel) partingOf(t *trace.Timeline) (all []parting) {
	type seen struct {
		at           place
		fewest, time int
	}
	var lines []seen
	for _, s := range t.Stretches {
		for i, w := range s.Warps {
			n := bits.OnesCount32(w.Apart)
			if w.Line == 0 || n == 0 || n >= lanesOf(t, i) {
				continue
			}
			at := place{w.File, w.Line}
			j := slices.IndexFunc(lines, func(x seen) bool { return x.at == at })
			if j < 0 {
				lines = append(lines, seen{at, n, 1})
				continue
			}
			lines[j].fewest, lines[j].time = min(lines[j].fewest, n), lines[j].time+1
		}
	}
	slices.SortStableFunc(lines, func(a, b seen) int { return cmp.Or(b.time-a.time, a.fewest-b.fewest) })
	for _, x := range lines[:min(len(lines), mostPartings)] {
		all = append(all, parting{k.id(x.at), fmt.Sprintf("%s:%d", x.at.file, x.at.line),
			fmt.Sprintf("as few as %d of a warp's lanes come here together", x.fewest)})
	}
	return all
}
