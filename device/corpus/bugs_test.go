package corpus

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
	"flashlab/device/sim"
	"flashlab/device/trace"
)

// simulator starts one with every check on, for a test.
func simulator(t *testing.T, o sim.Options) *sim.Device {
	t.Helper()
	o.Checks = sim.AllChecks()
	d, err := sim.Start(o)
	if errors.Is(err, sim.ErrNoCompiler) {
		t.Skip(err)
	}
	require.NoError(t, err)
	t.Cleanup(func() { d.Close() })
	return d
}

func TestEveryBugIsFoundAtItsLineAndNoTwinIs(t *testing.T) {
	d := simulator(t, SimOptions())
	r := NewRunner(d)
	bugs, err := Bugs()
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(bugs), 40)
	for _, b := range bugs {
		t.Run(b.Name, func(t *testing.T) {
			found, err, problem := Simulate(d, r, b, false)
			require.NoError(t, problem)
			hit := slices.ContainsFunc(found, b.FoundBy)
			fatal := slices.ContainsFunc(found, func(f trace.Finding) bool { return f.Fatal })
			assert.Equal(t, fatal, err != nil, "a fatal finding is an error of Launch: %v", err)
			if err != nil {
				assert.ErrorIs(t, err, device.ErrFault)
			}
			switch {
			case b.Todo && !hit:
				t.Logf("not seen yet: %s:%d: %s", path.Base(b.File), b.Line, b.Kind)
			case b.Todo:
				t.Logf("%s:%d: seen by now: make the todo a want", path.Base(b.File), b.Line)
			default:
				assert.True(t, hit, "want %q at %s:%d, got\n%s", b.Kind, path.Base(b.File), b.Line, all(found))
			}

			found, err, problem = Simulate(d, r, b, true)
			require.NoError(t, problem)
			assert.NoError(t, err, "the twin")
			assert.Empty(t, found, "the twin:\n%s", all(found))
		})
	}
}

func all(found []trace.Finding) string {
	text := fmt.Sprintf("%d findings", len(found))
	for _, f := range found {
		text += "\n" + f.String()
	}
	return text
}
