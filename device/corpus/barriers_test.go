package corpus

import (
	"fmt"
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
	"flashlab/device/sim"
	"flashlab/device/trace"
)

// TestEachBarrierDeletedIsMissed takes the barriers out of right kernels, one at
// a time: the simulator must report it wherever that is a bug, and nothing
// where the barrier was spare.
func TestEachBarrierDeletedIsMissed(t *testing.T) {
	d := simulator(t, sim.Options{})
	deletions, texts, err := Deletions()
	require.NoError(t, err)
	load := newLoader(d, false)
	for file, text := range texts {
		m, err := d.Compile(device.Source{Name: path.Base(file), Text: text})
		require.NoError(t, err)
		load.modules[file] = m
	}
	byName := map[string]Case{}
	for _, c := range Cases() {
		byName[c.Name] = c
	}
	var table strings.Builder
	fmt.Fprintf(&table, "%-20s %-18s %-6s %-16s %s\n", "kernel", "barrier", "spare", "findings", "result")
	kernels := map[string]bool{}
	for _, x := range deletions {
		require.NoError(t, d.Reset())
		o, err := byName[x.Case].on(load, map[string]string{x.Kernel: x.variant})
		report, reportErr := d.Report()
		require.NoError(t, reportErr)
		said, result := verdict(report.Findings), "right"
		if off, _ := distance(o.got, o.want); err != nil || off > o.bound {
			result = "wrong"
		}
		where := fmt.Sprintf("%s:%d", path.Base(x.file), x.Line)
		fmt.Fprintf(&table, "%-20s %-18s %-6t %-16s %s\n", x.Kernel, where, x.Spare, said, result)
		if x.Spare {
			assert.Empty(t, report.Findings, "%s is spare in %s:\n%s", where, x.Kernel, all(report.Findings))
			assert.Equal(t, "right", result, "%s is spare in %s", where, x.Kernel)
		} else {
			// A copy that is under way is no write yet: to read its place is to not wait for it.
			assert.Regexp(t, "race|not waited for", said, "%s is needed in %s", where, x.Kernel)
		}
		kernels[x.Kernel] = true
	}
	assert.GreaterOrEqual(t, len(kernels), 10)
	t.Logf("%d barriers of %d kernels\n%s", len(deletions), len(kernels), table.String())
}

// verdict names the kinds of findings, each once.
func verdict(found []trace.Finding) string {
	var kinds []string
	for _, f := range found {
		if len(kinds) == 0 || !strings.Contains(strings.Join(kinds, ", "), f.Kind) {
			kinds = append(kinds, f.Kind)
		}
	}
	if len(kinds) == 0 {
		return "none"
	}
	return strings.Join(kinds, ", ")
}
