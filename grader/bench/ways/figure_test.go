package ways

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestThePictureComparesWithTheFirstWay(t *testing.T) {
	at := func(ms float64) Spread { return Spread{ms, ms * 0.9, ms * 1.1} }
	r := Report{Workload: Workload{Shape: "8b", Batch: 16}, Device: "a GPU", Results: []Result{
		{Way: Ways[0], First: at(678), Each: at(7.2), PerSecond: 2231, Bytes: 18e9},
		{Way: Ways[4], First: at(419), Each: at(3), PerSecond: 5349, Bytes: 6e9}}}
	f := r.Figure()
	assert.Len(t, f.Bars, 6)
	all := f.Bars[3]
	assert.Equal(t, "between tokens", all.Name)
	assert.InDelta(t, 2.4, all.Value, 1e-9)
	assert.InDelta(t, 2.4/1.1, all.Low, 1e-9)
	assert.InDelta(t, 3.0, f.Bars[5].Value, 1e-9)
	r.Results[0].PerSecond, r.Results[1].PerSecond = 0, 0
	assert.True(t, r.Figure().Empty(), "without a clock")
}
