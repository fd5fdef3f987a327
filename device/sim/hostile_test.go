package sim

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
	"flashlab/device/protocol"
)

// TestTheProcessRefusesWhatBreaksOff: the simulator's own process survives, whichever
// part of a message is missing and whatever number it holds.
func TestTheProcessRefusesWhatBreaksOff(t *testing.T) {
	d := start(t, Options{Checks: AllChecks(), Memory: 1 << 20})
	m, err := d.Compile(device.Source{Name: "k.cu", Text: `extern "C" __global__ void k(float *x, int n) { x[0] = n; }`})
	require.NoError(t, err)
	k, err := m.Kernel("k")
	require.NoError(t, err)
	x, err := device.Upload(d, "x", []float32{1, 2})
	require.NoError(t, err)
	memory, number := x.Memory(), k.(*kernel).id
	launch, err := protocol.NewLaunch(number, k.Signature(), device.Launch{Grid: device.D1(1), Block: device.D1(1)}, d.Info(), []any{x, 3})
	require.NoError(t, err)
	requests := []protocol.Message{
		launch,
		append(protocol.New(protocol.OpCopyIn, memory), make([]byte, 8)...),
		protocol.New(protocol.OpCopyOut, memory),
		protocol.New(protocol.OpPoison, memory),
		protocol.New(protocol.OpKernel, 0, "k"),
		protocol.New(protocol.OpLoad, "nowhere.so", []string{"a", "b"}),
		protocol.New(protocol.OpAttributes, number),
		protocol.New(protocol.Op(99)),
	}
	say := func(request protocol.Message) protocol.Status {
		answer, err := d.process.call(time.Minute, bytes.Clone(request), nil)
		require.NoError(t, err, "the process has ended")
		return answer.Status()
	}
	for n := 5; n < len(launch); n++ {
		assert.Equal(t, protocol.Refused, say(launch[:n]), "%d of %d bytes", n, len(launch))
	}
	for _, request := range requests {
		for n := 5; n < len(request); n++ {
			say(request[:n])
		}
		for at := 5; at+8 <= len(request); at += 8 {
			lying := bytes.Clone(request)
			binary.LittleEndian.PutUint64(lying[at:], math.MaxUint64)
			say(lying)
		}
	}
	assert.Equal(t, protocol.OK, say(launch), "all is as it was")
	got, err := x.CopyOut(d)
	require.NoError(t, err)
	assert.Equal(t, float32(3), got[0])
}
