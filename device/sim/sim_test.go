package sim

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"flashlab/device"
	"flashlab/device/devicetest"
)

func start(t *testing.T, o Options) *Device {
	t.Helper()
	o.FLOPs = true
	d, err := Start(o)
	require.NoError(t, err)
	t.Cleanup(func() { d.Close() })
	return d
}

func TestConformance(t *testing.T) {
	devicetest.Run(t, func(t *testing.T) device.Device { return start(t, Options{Checks: AllChecks()}) })
}

func TestConformanceWithoutChecks(t *testing.T) {
	devicetest.Suite{FaultIsFinal: true}.Run(t, func(t *testing.T) device.Device { return start(t, Options{}) })
}

// forEachCompiler runs a test with the default compiler, and with clang++
// where there is one besides and time does not matter.
func forEachCompiler(t *testing.T, test func(t *testing.T, compiler string)) {
	one := func(title, compiler string) {
		t.Run(title, func(t *testing.T) {
			record.Skip(t)
			test(t, compiler)
		})
	}
	one("default", "")
	if os.Getenv("FLASHLAB_ALL") == "" {
		return
	}
	for _, name := range []string{"clang++", "clang++-18", "clang++-16"} {
		if _, err := findCompiler(name); err == nil {
			one(name, name)
			return
		}
	}
}
