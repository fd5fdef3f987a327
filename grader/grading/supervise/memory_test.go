package supervise

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
)

func (b bytesAlone) CopyIn(device.Memory, []byte) error { return nil }

func (b bytesAlone) Set(device.Memory, byte) error { return nil }

// TestWhateverAQueueMovesIsTraffic: of all that a submission's queue can do, each method that fills or fetches memory
// counts its bytes; kernels count theirs themselves.
func TestWhateverAQueueMovesIsTraffic(t *testing.T) {
	m := meter(bytesAlone{memory: make([]byte, 1000)}, newFilling(t, false).kept, 0)
	at := device.Memory{Addr: 1100, Bytes: 96}
	moves := map[string]func() error{
		"CopyIn":  func() error { return m.CopyIn(at, make([]byte, at.Bytes)) },
		"CopyOut": func() error { return m.CopyOut(make([]byte, at.Bytes), at) },
		"Set":     func() error { return m.Set(at, 0xfe) },
	}
	others := []string{"Compile", "Free", "Info", "Launch", "Malloc"}
	queue := reflect.TypeFor[device.Queue]()
	require.Equal(t, queue.NumMethod(), len(moves)+len(others))
	for i := range queue.NumMethod() {
		name := queue.Method(i).Name
		move, moving := moves[name]
		if !moving {
			assert.Contains(t, others, name, "does it move bytes?")
			continue
		}
		require.NoError(t, move())
		assert.EqualValues(t, at.Bytes, m.takePut()+m.takeCopied(), name)
	}
}
