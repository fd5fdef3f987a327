package race

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"flashlab/device"
	"flashlab/grader/grading/timing"
)

// TestWhatBinds: memory or units, whichever takes longer; reading where next to nothing is written.
func TestWhatBinds(t *testing.T) {
	one := func(x float64) timing.Stats { return timing.Describe([]float64{x}) }
	test := SelfTest{Limits: device.Limits{FLOPS: 67e12, Tensor: 990e12, Bandwidth: 3.35e12}, Copy: one(2.5e12), Read: one(3e12), Adds: one(60e12), Tensor: one(750e12)}
	const ms = 1e6
	for name, c := range map[string]struct {
		row      Row
		ns       float64
		of, rate string
	}{
		"reading":        {Row{Work: timing.Work{Bytes: 3e9, Written: 1e6, FLOPS: 1e9}, Tensor: 1}, 2 * ms, "50 % of reading, 45 % of the pins", "1.50 TB/s"},
		"a copy":         {Row{Work: timing.Work{Bytes: 2.5e9, Written: 1.25e9, FLOPS: 1e9}}, 1 * ms, "100 % of a copy, 75 % of the pins", "2.50 TB/s"},
		"plain units":    {Row{Work: timing.Work{Bytes: 1e6, FLOPS: 30e9}}, 1 * ms, "50 % of multiply-adds, 45 % of their peak", "30.0 TFLOP/s"},
		"tensor cores":   {Row{Work: timing.Work{Bytes: 1e6, FLOPS: 600e9}, Tensor: 1}, 1 * ms, "80 % of tensor cores, 61 % of their peak", "600.0 TFLOP/s"},
		"split halves":   {Row{Work: timing.Work{Bytes: 1e6, FLOPS: 125e9}, Tensor: 3}, 1 * ms, "50 % of tensor cores, 38 % of their peak", "125.0 TFLOP/s"},
		"as it is known": {Row{Workload: Workload{Traffic: true}, Work: timing.Work{Bytes: 3e6, FLOPS: 600e9}, Tensor: 1}, 1 * ms, "0 % of reading, 0 % of the pins", "0.00 TB/s"},
	} {
		b := c.row.Bound(test)
		assert.Equal(t, c.of, b.Of(c.ns), name)
		assert.Equal(t, c.rate, b.Rate(c.row, c.ns), name)
	}
	earlier := SelfTest{Limits: test.Limits, Copy: test.Copy, Adds: test.Adds} // of a document before these rates were measured
	read := Row{Work: timing.Work{Bytes: 2.5e9}}
	assert.Equal(t, "50 % of a copy, 37 % of the pins", read.Bound(earlier).Of(2*ms))
	products := Row{Work: timing.Work{FLOPS: 990e9}, Tensor: 1}
	assert.Equal(t, "50 % of their peak", products.Bound(earlier).Of(2*ms), "paper alone")
	assert.Empty(t, products.Bound(SelfTest{}).Of(2*ms))
}
