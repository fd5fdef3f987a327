package race

import (
	"context"
	"fmt"

	"flashlab/device"
	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
	"flashlab/grader/grading/supervise"
	"flashlab/grader/grading/timing"
	"flashlab/grader/grading/wire"
)

// SelfTest is what the machine does with work whose size is known: whether its times
// can be judged at all.
type SelfTest struct {
	Device  device.Info
	Limits  device.Limits
	Library string
	Free    int64        // bytes of device memory, before anything was allocated
	Copy    timing.Stats // bytes a second, read and written
	Adds    timing.Stats // float32 operations a second
	Read    timing.Stats // bytes a second of reading alone; none in earlier documents
	Tensor  timing.Stats // operations a second on halves by tensor cores; none where it cannot be measured
	Noisy   string       // why the machine is too noisy to judge; "" if it is not
	Not     string       // why nothing was measured
}

// What a quiet machine stays within.
const (
	maxSpread = 0.05 // of the quartiles of either rate, around their median
	leastCopy = 0.70 // of what the memory's pins allow
	leastAdds = 0.70 // of the peak at the clock that the GPU names
	mostOf    = 1.05 // of either: more is no rate but a wrong clock
)

// Test runs it on the device of a worker that can do the operation.
func Test(ctx context.Context, r *supervise.Runner, op string, o Options) (SelfTest, error) {
	var t SelfTest
	w, err := selfTestOf(op, o.Ops)
	if err != nil {
		return t, err
	}
	_, c, err := w.Case(o.Ops, r.Backend.Kind() != device.CUDA)
	if err != nil {
		return t, err
	}
	talk, failed, err := r.Time(ctx, c)
	if err != nil {
		return t, err
	}
	if failed != nil {
		t.Not = failed.Error()
		return t, nil
	}
	t.Device, t.Limits, t.Library, t.Free = talk.Ready.Device, talk.Ready.Limits, talk.Ready.Library, talk.Ready.Free
	if !talk.Ready.Clock {
		t.Not = "needs a GPU"
		return t, talk.End()
	}
	work := map[wire.Who]float64{wire.Copying: 2 * float64(largestTwins(c)), wire.Adding: wire.AddedFLOPS(t.Device.Processors),
		wire.Reading: float64(talk.Ready.Reads), wire.Tensors: wire.TensorFLOPS(t.Device.Processors)}
	rates, not := t.rates(talk, o, work)
	if not != "" {
		t.Not = not
		return t, talk.End()
	}
	t.Copy, t.Adds = timing.Describe(rates[wire.Copying]), timing.Describe(rates[wire.Adding])
	t.Read, t.Tensor = timing.Describe(rates[wire.Reading]), timing.Describe(rates[wire.Tensors])
	t.judge()
	return t, talk.End()
}

// rates runs each kind of work in turns. One that only some GPUs can do is left out where it fails.
func (t *SelfTest) rates(talk *supervise.Talk, o Options, work map[wire.Who]float64) (rates map[wire.Who][]float64, failed string) {
	fillings := map[wire.Who]*Filling{}
	for who := range work {
		fillings[who] = &Filling{}
	}
	rates, left := map[wire.Who][]float64{}, map[wire.Who]bool{}
	for i := range o.Warm + max(2*o.Runs, 20) {
		for _, who := range []wire.Who{wire.Copying, wire.Adding, wire.Reading, wire.Tensors} {
			if left[who] || work[who] == 0 {
				continue
			}
			r := fillings[who].Hidden((&InWorker{Talk: talk, Who: who}).Run, wire.Turn{Seed: o.TurnSeed("self-test", i)})
			if r.Error != nil && who == wire.Tensors {
				left[who] = true
				continue
			}
			if r.Error != nil {
				return nil, r.Error.Error()
			}
			if seconds := r.Time() / 1e9; i >= o.Warm && seconds > 0 {
				rates[who] = append(rates[who], work[who]/seconds)
			}
		}
	}
	return rates, ""
}

// selfTestOf is what the worker of an operation is asked for.
func selfTestOf(name string, all judge.Ops) (Workload, error) {
	op, err := all.Find(name)
	if err == nil && op.Timed == nil {
		err = fmt.Errorf("op %q is not timed", name)
	}
	if err != nil {
		return Workload{}, err
	}
	return Workload{Name: "the self-test", Op: op.Timed.SelfTest.Op, Shape: op.Timed.SelfTest.Shape}, nil
}

// largestTwins is the bytes of the two tensors that a worker copies.
func largestTwins(c problem.Problem) int64 {
	most := int64(0)
	seen := map[int64]bool{}
	for _, t := range append(append([]problem.Tensor{}, c.Inputs...), c.Outputs...) {
		bytes := Bytes(problem.Problem{Inputs: []problem.Tensor{t}})
		if seen[bytes] {
			most = max(most, bytes)
		}
		seen[bytes] = true
	}
	return most
}

// judge says whether the machine is too noisy.
func (t *SelfTest) judge() {
	for _, one := range []struct {
		what  string
		rate  timing.Stats
		peak  float64
		least float64
	}{{"a copy", t.Copy, t.Limits.Bandwidth, leastCopy}, {"multiply-adds", t.Adds, t.Limits.FLOPS, leastAdds}} {
		of := 1.0
		if one.peak > 0 {
			of = one.rate.Median / one.peak
		}
		why := ""
		switch {
		case one.rate.Spread() > maxSpread:
			why = fmt.Sprintf("the rate of %s spreads by %.1f %% (%.0f %% is allowed): does something else use this GPU?", one.what, 100*one.rate.Spread(), 100*maxSpread)
		case of < one.least:
			why = fmt.Sprintf("%s reach %.0f %% of the hardware's figure (%.0f %% is expected): does something else use this GPU, or is it held back?", one.what, 100*of, 100*one.least)
		case of > mostOf:
			why = fmt.Sprintf("%s reach %.0f %% of the hardware's figure: the clock is wrong", one.what, 100*of)
		}
		if why != "" && t.Noisy == "" {
			t.Noisy = why
		}
	}
}

// String is the self-test in a few lines.
func (t SelfTest) String() string {
	if t.Not != "" {
		return "self-test: not measured: " + t.Not
	}
	s := fmt.Sprintf("self-test: a copy %.3f TB/s (spread %.1f %%; the memory's pins allow %.2f), multiply-adds %.1f TFLOP/s (spread %.1f %%; peak %.1f)",
		t.Copy.Median/1e12, 100*t.Copy.Spread(), t.Limits.Bandwidth/1e12, t.Adds.Median/1e12, 100*t.Adds.Spread(), t.Limits.FLOPS/1e12)
	if t.Read.N > 0 {
		s += fmt.Sprintf(", reading %.3f TB/s", t.Read.Median/1e12)
	}
	if t.Tensor.N > 0 {
		s += fmt.Sprintf(", tensor cores in halves %.0f TFLOP/s (peak %.0f)", t.Tensor.Median/1e12, t.Limits.Tensor/1e12)
	}
	s += "; " + t.Library
	if t.Noisy != "" {
		return s + "\nToo noisy to judge: " + t.Noisy
	}
	return s + "\nThe machine is quiet enough to judge."
}
