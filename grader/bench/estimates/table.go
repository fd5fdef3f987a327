package estimates

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"flashlab/device/estimate"
)

// Held is a rung with what is predicted for it from all other ladders.
type Held struct {
	Rung
	Predicted float64 // seconds
	Bound     string
}

// ratio is predicted over measured.
func (h Held) ratio() float64 { return h.Predicted / (h.Nanoseconds / 1e9) }

func (r Rung) sample() estimate.Sample {
	return estimate.Sample{Kernels: r.Kernels, Times: r.Times, Seconds: r.Nanoseconds / 1e9}
}

// fit fits the constants to the rungs of all tasks but one; "" leaves none out.
func fit(g estimate.GPU, rungs []Rung, without string) estimate.Constants {
	var some []estimate.Sample
	for _, r := range rungs {
		if r.Task != without {
			some = append(some, r.sample())
		}
	}
	return estimate.Fit(g, some)
}

// FitAll fits the constants to all rungs.
func FitAll(g estimate.GPU, rungs []Rung) estimate.Constants { return fit(g, rungs, "") }

// HoldOut predicts each rung with constants that were fitted without its ladder, which are the rungs of its task.
func HoldOut(g estimate.GPU, rungs []Rung) (all []Held) {
	fits := map[string]estimate.Constants{}
	for _, r := range rungs {
		f, known := fits[r.Task]
		if !known {
			f = fit(g, rungs, r.Task)
			fits[r.Task] = f
		}
		p, bound := f.Predict(g, r.sample())
		all = append(all, Held{r, p, bound})
	}
	return all
}

// Errors are the median of how far predictions are off, as a share of the measured time, and the worst factor.
func Errors(all []Held) (median, worst float64) {
	var off []float64
	for _, h := range all {
		off = append(off, math.Abs(h.ratio()-1))
		worst = max(worst, estimate.Off(h.Predicted, h.Nanoseconds/1e9))
	}
	return estimate.Median(off), worst
}

// within counts the predictions that are off by no more than a factor.
func within(all []Held, factor float64) (n int) {
	for _, h := range all {
		if estimate.Off(h.Predicted, h.Nanoseconds/1e9) <= factor {
			n++
		}
	}
	return n
}

// PageFile is the page.
const PageFile = "grader/bench/estimates/README.md"

const about = `# Estimates held against a GPU

Made by ` + "`go run ./grader/bench/estimates/program`" + `; do not edit. device/estimate says how long a launch would
take on a GPU, from what the simulator counted of 8 of its blocks. Here are versions of the course's solutions that the
reference's page times, with what an %s took. Each is predicted with constants that were fitted **without
its own ladder**: without any version of its task.

| | |
| --- | --- |
| rungs | %d |
| median error | %.0f %% |
| within 1.25 × | %d |
| within 2 × | %d |
| worst | %.1f × |

What explains the largest errors: **registers** are not known, so where a block's accumulators leave room for one block
on a multiprocessor, the estimate has two (5_halves of tasks 2 and 4). **Halves and codes of four bits** are unpacked by
many small steps in the simulator, and by few instructions on a GPU; there, instructions are guessed badly (b5, b8). A
vector that is **passed by value** may be read in pieces, which count as scattered reads (b8's 2_warps). Workloads of
several sequences were counted with fewer: a solution that splits them by their number splits them otherwise (b6, b7).

Other cards have the same constants with their own rates. No times of theirs were held against them: they read 'not
validated'.

| task | median error | worst |
| --- | ---: | ---: |
`

// Page tells what was predicted and measured.
func Page(all []Held) string {
	median, worst := Errors(all)
	var b strings.Builder
	fmt.Fprintf(&b, about, all[0].GPU, len(all), 100*median, within(all, 1.25), within(all, 2), worst)
	var tasks []string
	byTask := map[string][]Held{}
	for _, h := range all {
		if !slices.Contains(tasks, h.Task) {
			tasks = append(tasks, h.Task)
		}
		byTask[h.Task] = append(byTask[h.Task], h)
	}
	for _, t := range tasks {
		median, worst := Errors(byTask[t])
		fmt.Fprintf(&b, "| %s | %.0f %% | %.1f × |\n", t, 100*median, worst)
	}
	b.WriteString("\n| rung | measured, µs | predicted, µs | predicted / measured | bound by |\n| --- | ---: | ---: | ---: | --- |\n")
	for _, h := range all {
		fmt.Fprintf(&b, "| %s | %.1f | %.1f | %.2f | %s |\n", h.Rung, h.Nanoseconds/1e3, h.Predicted*1e6, h.ratio(), h.Bound)
	}
	return b.String()
}
