package corpus

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
	"flashlab/device/sim"
)

func TestKernelsOnTheSimulator(t *testing.T) {
	d := simulator(t, sim.Options{})
	Check(t, d)
	report, err := d.Report()
	require.NoError(t, err)
	assert.Empty(t, report.Findings, "right kernels:\n%s", all(report.Findings))
}

func TestEveryKernelHasACase(t *testing.T) {
	used := map[string]bool{}
	for _, c := range Cases() {
		for _, k := range c.Kernels {
			used[k] = true
		}
	}
	// These belong to cases that carry another kernel's name.
	used["add_totals"] = true
	for _, file := range Files() {
		text, err := Text(file)
		require.NoError(t, err)
		if file[:4] != "kern" {
			continue
		}
		for _, sig := range device.ScanKernels(text) {
			assert.True(t, used[sig.Name], "no case launches %s of %s", sig.Name, file)
			delete(used, sig.Name)
		}
	}
	assert.Empty(t, used, "no file has these kernels")
	t.Logf("%d cases", len(Cases()))
}
