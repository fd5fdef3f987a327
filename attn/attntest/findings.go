package attntest

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"flashlab/device"
	"flashlab/device/sim"
)

// shown holds the findings that are already in the output, because most bugs show
// up in every case.
var shown = map[string]bool{}

// Findings fails the test with what the simulator has found so far: races, bad
// addresses, values never written. On a GPU there is no such report.
func Findings(t *testing.T, d device.Device) {
	t.Helper()
	simulator, ok := d.(*sim.Device)
	if !ok {
		return
	}
	r, err := simulator.Report()
	require.NoError(t, err)
	for _, f := range r.Findings {
		place := fmt.Sprintf("%s:%d: %s", f.File, f.Line, f.Kind)
		if shown[place] {
			t.Errorf("found again: %s", place)
			continue
		}
		shown[place] = true
		t.Errorf("the simulator found:\n%v", f)
	}
	if len(r.Findings) > 0 {
		require.NoError(t, simulator.Reset()) // so that the next check starts clean
	}
}

// Fatal reports findings and ends the test with an error, which may be about
// one of them.
func Fatal(t *testing.T, d device.Device, format string, args ...any) {
	t.Helper()
	Findings(t, d)
	t.Fatalf(format, args...)
}
