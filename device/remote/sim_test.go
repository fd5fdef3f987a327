package remote_test

import (
	"errors"
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"flashlab/device"
	"flashlab/device/devicetest"
	"flashlab/device/remote"
	"flashlab/device/sim"
)

// TestTheSimulatorBehindASocketConforms: whatever a device does, it does behind
// a socket too.
func TestTheSimulatorBehindASocketConforms(t *testing.T) {
	devicetest.Run(t, func(t *testing.T) device.Device {
		d, err := sim.Start(sim.Options{Checks: sim.AllChecks()})
		if errors.Is(err, sim.ErrNoCompiler) {
			t.Skip(err)
		}
		require.NoError(t, err)
		t.Cleanup(func() { _ = d.Close() })
		here, there := net.Pipe()
		shelf := remote.Shelf{}
		go func() { _ = (&remote.Server{Device: d, Find: shelf.Find}).Serve(there) }()
		client, err := remote.Dial(here)
		require.NoError(t, err)
		return remote.Shelved{Device: client, Shelf: shelf}
	})
}
