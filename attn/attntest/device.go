// Package attntest holds checks for several implementations of one contract. The
// tasks' public tests share them.
package attntest

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"flashlab/device"
	"flashlab/device/open"
	"flashlab/device/sim"
)

// Device opens a device for a test: a GPU if there is one, else the simulator with
// all its checks, because without them Findings would have nothing to show.
func Device(t testing.TB) device.Device {
	t.Helper()
	d, err := open.Device("auto", open.Options{Sim: sim.Options{Checks: sim.AllChecks()}})
	require.NoError(t, err)
	t.Cleanup(func() { _ = d.Close() })
	return d
}

// Input puts values on the device for one test.
func Input(t *testing.T, d device.Device, name string, values []float32) device.Buffer[float32] {
	t.Helper()
	b, err := device.Upload(d, name, values)
	require.NoError(t, err)
	t.Cleanup(func() { _ = b.Free(d) })
	return b
}

// Output makes room on the device for one test, filled with NaN.
func Output(t *testing.T, d device.Device, name string, n int) device.Buffer[float32] {
	t.Helper()
	b, err := device.Alloc[float32](d, name, n)
	require.NoError(t, err)
	t.Cleanup(func() { _ = b.Free(d) })
	require.NoError(t, d.Poison(b.Memory()))
	return b
}

// Unwritten explains the NaN that the grader and these checks put everywhere
// before the call.
func Unwritten(y []float32) string {
	if slices.ContainsFunc(y, func(v float32) bool { return v != v }) {
		return "\n  (NaN may also mean that an element was never written)"
	}
	return ""
}
