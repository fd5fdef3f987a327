package score

import (
	"fmt"
	"time"

	"flashlab/grader/grading/marks"
	"flashlab/grader/grading/rubric"
	"flashlab/grader/grading/timing"
	"flashlab/grader/grading/verdict"
)

// Speed is the result of timing a check's workload next to its baseline.
type Speed struct {
	// Not says why there is no ratio, and nobody's fault: "needs a GPU".
	Not      string
	NeedsGPU bool // that is the reason
	Estimate *verdict.Estimate
	Wrong    string // what the code did wrong in a timed run: no points
	Held     string // why the time is not believed; a person has to look at it
	Workload string
	Baseline string        // its name
	Ours     time.Duration // medians
	Theirs   time.Duration
	Ratio    timing.Stats // of theirs to ours, by pairs of neighbouring runs
}

// mark gives the points: a time that is held earns none and costs none.
func (s Speed) mark(p *verdict.Part, curve rubric.Curve) {
	p.Estimate = s.Estimate
	switch {
	case s.Not != "":
		p.NotMeasured, p.NeedsGPU = "not measured: "+s.Not, s.NeedsGPU
	case s.Wrong != "":
		p.Note = s.Wrong
	case s.Held != "":
		p.NotMeasured, p.Doubt = verdict.Awaiting, s.Held
	case s.Ratio.N == 0:
		p.NotMeasured = "not measured: there is no pair of times to compare"
	default:
		p.Score, p.Ratio = p.Max*marks.Rising(curve, s.Ratio.Median), s.Ratio.Median
		p.Note = fmt.Sprintf("%.2f × the speed of %s (%.2f to %.2f; %v beside %v; full from %g on): %s",
			s.Ratio.Median, s.Baseline, s.Ratio.Low, s.Ratio.High, rounded(s.Ours), rounded(s.Theirs), curve.Full, s.Workload)
	}
}

// rounded leaves three or four digits.
func rounded(d time.Duration) time.Duration {
	for unit := time.Second; unit > time.Microsecond; unit /= 10 {
		if d >= unit {
			return d.Round(unit / 1000)
		}
	}
	return d
}
