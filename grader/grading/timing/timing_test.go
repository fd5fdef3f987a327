package timing

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"flashlab/device"
	"flashlab/grader/grading/wire"
)

func TestDescribe(t *testing.T) {
	s := Describe([]float64{5, 1, 3, 2, 4})
	assert.Equal(t, 3.0, s.Median)
	assert.Equal(t, 2.0, s.Q1)
	assert.Equal(t, 4.0, s.Q3)
	assert.Equal(t, 1.0, s.Least)
	assert.Equal(t, 5.0, s.Most)
	assert.Zero(t, s.Outliers)
	assert.InDelta(t, 2.0/3, s.Spread(), 1e-12)
	assert.LessOrEqual(t, s.Low, s.Median)
	assert.GreaterOrEqual(t, s.High, s.Median)
	assert.Equal(t, s, Describe([]float64{1, 2, 3, 4, 5}), "the same numbers give the same report")
	assert.Equal(t, Stats{}, Describe(nil))
	one := Describe([]float64{7})
	assert.Equal(t, 7.0, one.Median)
	assert.Equal(t, 7.0, one.High)
}

func TestOutliersAreCountedAndKept(t *testing.T) {
	s := Describe([]float64{100, 101, 102, 99, 100, 101, 5000})
	assert.Equal(t, 1, s.Outliers)
	assert.Equal(t, 5000.0, s.Most)
	assert.Equal(t, 7, s.N)
}

func TestRatiosArePairs(t *testing.T) {
	// The machine halves its speed in the middle: the ratio knows nothing of it.
	ours, theirs := []float64{10, 10, 20, 20}, []float64{20, 20, 40, 40}
	s := Describe(Ratios(theirs, ours))
	assert.Equal(t, 2.0, s.Median)
	assert.Zero(t, s.Spread())
	assert.Len(t, Ratios([]float64{1, 2, 3}, []float64{1}), 1, "what has no partner is no pair")
}

var h100 = device.Limits{FLOPS: 67e12, Tensor: 1070e12, Bandwidth: 3.35e12, L2: 50 << 20}

func run(device, late, host, wall time.Duration) Run {
	return Run{Took: wire.Took{Device: device.Nanoseconds(), Late: late.Nanoseconds(), Host: host.Nanoseconds()}, Wall: wall}
}

func TestImpossibleTimesAreHeld(t *testing.T) {
	const ms = time.Millisecond
	w := Work{FLOPS: 17.6e12, Bytes: 17.2e9} // batch 64, sequence 4096
	assert.InDelta(t, 16.4, w.Least(h100).Seconds()*1000, 0.1)
	assert.Empty(t, Hold(run(200*ms, 0, 201*ms, 230*ms), w, h100))
	assert.Contains(t, Hold(run(10*ms, 0, 11*ms, 30*ms), w, h100), "impossible time")
	assert.Contains(t, Hold(run(200*ms, 0, 900*ms, 901*ms), w, h100), "the clocks do not agree", "the device's clock leaves something out")
	assert.Contains(t, Hold(run(200*ms, 0, 100*ms, 230*ms), w, h100), "the clocks do not agree")
	assert.Contains(t, Hold(run(200*ms, 0, 201*ms, 50*ms), w, h100), "the clocks do not agree", "the grader's own clock")
	outside := run(200*ms, 0, 201*ms, 230*ms)
	outside.Outside = "launch flash_128"
	assert.Contains(t, Hold(outside, w, h100), "launch flash_128")
	assert.Equal(t, time.Microsecond, Work{}.Least(h100), "nothing at all takes a microsecond")
}

func TestWhatFitsTheCacheNeedNotHaveBeenWritten(t *testing.T) {
	assert.Equal(t, time.Microsecond, Work{Bytes: 40 << 20, Written: 40 << 20}.Least(h100))
	assert.InDelta(t, 12.5, Work{Bytes: 40 << 20}.Least(h100).Seconds()*1e6, 0.1, "what is read comes from memory, however small")
	assert.InDelta(t, 12.5, Work{Bytes: 80 << 20, Written: 40 << 20}.Least(h100).Seconds()*1e6, 0.1)
	assert.InDelta(t, 15.7, Work{Bytes: 100 << 20, Written: 100 << 20}.Least(h100).Seconds()*1e6, 0.1)
}

func TestWorkAfterTheCallIsPartOfIt(t *testing.T) {
	assert.Equal(t, 1e6, run(time.Millisecond, 20*time.Microsecond, 0, 0).Time(), "finding the device idle takes a moment")
	assert.Equal(t, 4e6, run(time.Millisecond, 3*time.Millisecond, 0, 0).Time())
}
