package estimate

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"flashlab/device/trace"
)

// Line is what one line of source takes of a kernel's time.
type Line struct {
	File  string
	Line  int
	Share float64 // of the kernel's time
	Bound string  // the resource that it takes most of
}

// Lines shares a kernel's time out among its lines: what each resource takes, by how much of it a line asks for. A resource
// that is far from binding takes nearly nothing. What the kernel's launch takes is in no line.
func (g GPU) Lines(c trace.Counts, times float64) []Line {
	e := g.Time(c, times)
	parts := map[place]map[string]float64{}
	weight := 0.0
	for _, t := range e.Terms {
		weight += math.Pow(t.Seconds, Fitted[Power])
	}
	if weight == 0 {
		return nil
	}
	for _, t := range e.Terms {
		share, all := math.Pow(t.Seconds, Fitted[Power])/weight, 0.0
		asked := asks(c, t.Name)
		for _, n := range asked {
			all += n
		}
		for at, n := range asked {
			if parts[at] == nil {
				parts[at] = map[string]float64{}
			}
			if all > 0 {
				parts[at][t.Name] += share * n / all
			}
		}
	}
	var lines []Line
	for at, terms := range parts {
		l, most := Line{File: at.file, Line: at.line}, 0.0
		for _, t := range e.Terms { // in their order: maps have none
			l.Share += terms[t.Name]
			if terms[t.Name] > most {
				most, l.Bound = terms[t.Name], t.Name
			}
		}
		lines = append(lines, l)
	}
	slices.SortFunc(lines, func(a, b Line) int {
		return cmp.Or(cmp.Compare(b.Share, a.Share), cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return lines
}

type place struct {
	file string
	line int
}

// asks is how much of a resource each line asks for.
func asks(c trace.Counts, resource string) map[place]float64 {
	of := map[place]float64{}
	for _, l := range c.LineCounts {
		at := place{l.File, l.Line}
		switch {
		case l.Line == 0:
		case resource == "device memory" || resource == "the L2 cache":
			of[at] += float64(l.Sectors)
		case resource == "shared memory" && l.Shared:
			of[at] += float64(l.Passes)
		case resource == "shared memory":
			of[at] += math.Max(float64(l.Sectors)/4, float64(l.Requests))
		case resource == "latency" && l.Shared:
			of[at] += Fitted[LatencyShared] * float64(l.Requests)
		case resource == "latency":
			of[at] += Fitted[LatencyCache]*float64(l.Requests) + Fitted[LatencyDevice]*float64(l.Sectors)/4
		}
	}
	warps := float64(c.Threads) / 32 / float64(max(c.Blocks, 1))
	for _, l := range c.LineSteps {
		at := place{l.File, l.Line}
		switch resource {
		case "instructions", "arithmetic", "tensor cores", "special units":
			of[at] += float64(l.Steps)
		case "barriers":
			of[at] += float64(l.Barriers)
		case "latency":
			of[at] += Fitted[LatencyPlain]*float64(l.Steps)/32 + Fitted[LatencyBarrier]*float64(l.Barriers)*warps
		}
	}
	return of
}

// mostly says where most of a kernel's time goes.
func mostly(lines []Line) string {
	if len(lines) == 0 || lines[0].Share < 0.05 {
		return ""
	}
	l := lines[0]
	what := "mostly for " + l.Bound
	if l.Bound == "barriers" {
		what = "where threads wait at the barrier"
	}
	return fmt.Sprintf("; %.0f %% of that at %s:%d, %s", 100*l.Share, l.File, l.Line, what)
}
