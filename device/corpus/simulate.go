package corpus

import (
	"time"

	"flashlab/device/sim"
	"flashlab/device/trace"
)

// SimOptions suit the bugs: endless loops are soon cut short.
func SimOptions() sim.Options {
	return sim.Options{Checks: sim.AllChecks(), MaxSteps: 200_000, Timeout: 300 * time.Millisecond}
}

// Simulate runs a bug or its twin with a clean slate, and returns what the
// simulator found, and the error of the launch.
func Simulate(d *sim.Device, r *Runner, b Bug, twin bool) (found []trace.Finding, launch, err error) {
	if err := d.Reset(); err != nil {
		return nil, nil, err
	}
	launch = r.Run(b, twin)
	report, err := d.Report()
	if err != nil {
		return nil, launch, err
	}
	return report.Findings, launch, nil
}

// FoundBy tells whether a finding is the bug's: its kind at its line.
func (b Bug) FoundBy(f trace.Finding) bool {
	line := f.Line == b.Line && f.Kernel == b.Name
	switch b.Kind {
	case "never written": // told by the copy to the host, which has no line
		line = f.Line == 0
	case "stack overflow": // anywhere in the function whose frame it is
		line = b.Line <= f.Line && f.Line <= b.Line+5
	}
	return f.Kind == b.Kind && line
}
