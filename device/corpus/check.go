package corpus

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
)

// Check runs every case on a device and compares it with float64. It returns
// what the device computed, by the case's name, so that two devices can be
// compared with one another.
func Check(t *testing.T, d device.Device) map[string]Computed {
	t.Helper()
	all := map[string]Computed{}
	load := newLoader(d, false)
	for _, c := range Cases() {
		t.Run(c.Name, func(t *testing.T) { all[c.Name] = check(t, load, c) })
	}
	return all
}

// Computed is a device's result of a case, and how far it may be from float64.
type Computed struct {
	Values []float64
	Bound  float64
}

func check(t *testing.T, load *loader, c Case) Computed {
	t.Helper()
	o, err := c.on(load, nil)
	require.NoError(t, err)
	worst, at := distance(o.got, o.want)
	if assert.LessOrEqual(t, worst, o.bound, "element %d is %v, want %v; the bound: %s", at, value(o.got, at), value(o.want, at), o.why) {
		t.Logf("off by %.2g, of %.2g allowed", worst, o.bound)
	}
	return Computed{o.got, o.bound}
}

// on runs a case, with some of its kernels replaced by others of their file.
func (c Case) on(load *loader, replace map[string]string) (outcome, error) {
	b := &bench{load: load, replace: replace}
	o := c.run(b)
	return o, b.done()
}

// distance is the largest difference and where it is; NaN is infinitely far.
func distance(got, want []float64) (worst float64, at int) {
	if len(got) != len(want) {
		return math.Inf(1), min(len(got), len(want))
	}
	for i := range want {
		d := math.Abs(got[i] - want[i])
		if math.IsNaN(d) {
			d = math.Inf(1)
		}
		if d > worst {
			worst, at = d, i
		}
	}
	return worst, at
}

func value(x []float64, at int) any {
	if at < len(x) {
		return x[at]
	}
	return "absent"
}
