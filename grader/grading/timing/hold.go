package timing

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"flashlab/device"
	"flashlab/grader/grading/wire"
)

// Run is one timed run as the grader saw it.
type Run struct {
	wire.Took
	Wall time.Duration // from outside the worker, from the question to the answer
}

// Work is the least that a run has to do.
type Work struct {
	FLOPS   float64
	Bytes   float64 // to and from device memory, each operand once
	Written float64 `json:",omitempty"` // of them, to it
}

// What is allowed between the device's clock and the host's.
const (
	lateness = 100 * time.Microsecond // to find the device idle, and to say so
	idleness = 20 * time.Millisecond  // of a host that other programs use as well
	waiting  = 6 * time.Millisecond   // in each of several runs: the device may still fill the cache when a call begins
)

// enough runs show what other programs do to the host, for they do not do it to all.
const enough = 3

// Time of a run in nanoseconds. What went on after the call's own queue was done is
// part of it.
func (r Run) Time() float64 {
	if late := time.Duration(r.Late); late > lateness && late > time.Duration(r.Device)/20 {
		return float64(r.Device + r.Late)
	}
	return float64(r.Device)
}

// exposure is how much of a run's time may be waiting for the host.
const exposure = 0.02

// Exposed tells that the device may have waited for the host to queue the rest of the
// call: it had begun with it too early, and queueing took long enough to matter.
func (r Run) Exposed() bool {
	return r.Began && float64(r.Queued) > exposure*r.Time()
}

// Least is the shortest time that a run can take on a device with these limits: its
// operations on the fastest units, its bytes over the memory's pins. What is written need not have
// left the cache, as far as it fits. What is read gets no such allowance: the cache was emptied.
func (w Work) Least(l device.Limits) time.Duration {
	var seconds float64
	if l.Tensor > 0 {
		seconds = w.FLOPS / l.Tensor
	}
	if l.Bandwidth > 0 {
		seconds = max(seconds, (w.Bytes-min(w.Written, float64(l.L2)))/l.Bandwidth)
	}
	return max(time.Duration(seconds*1e9), time.Microsecond) // nothing is launched in less
}

// Hold says why a run's time is not believed; "" where it is. Such a time is for a
// person to look at, and never scored.
func Hold(r Run, w Work, l device.Limits) string {
	took, least := time.Duration(r.Time()), w.Least(l)
	switch {
	case r.Outside != "":
		return fmt.Sprintf("its code asked for work when no call of it was running (%s)", r.Outside)
	case took < least:
		return fmt.Sprintf("impossible time: %v, and the hardware needs %v", took, least)
	case took > time.Duration(r.Host)+idleness || time.Duration(r.Host) > r.Wall+idleness:
		return fmt.Sprintf("the clocks do not agree: %v on the device, %v in the worker, %v outside", took, time.Duration(r.Host), r.Wall)
	case time.Duration(r.Host)-took > max(took, idleness):
		return fmt.Sprintf("the clocks do not agree: %v on the device, but the call took %v", took, time.Duration(r.Host))
	}
	return ""
}

// HoldAll says why the times of several runs are not believed, though each by itself may be; "" where they are. What
// the device's clock leaves out it leaves out every time, so the run in which the clocks agree best decides.
func HoldAll(runs []Run) string {
	if len(runs) < enough {
		return ""
	}
	apart := func(r Run) time.Duration { return time.Duration(r.Host) - time.Duration(r.Time()) }
	best := slices.MinFunc(runs, func(a, b Run) int { return cmp.Compare(apart(a), apart(b)) })
	if took := time.Duration(best.Time()); apart(best) > max(took/20, waiting) {
		return fmt.Sprintf("the clocks do not agree in any of %d runs: %v on the device at best, but the call took %v", len(runs), took, time.Duration(best.Host))
	}
	return ""
}
