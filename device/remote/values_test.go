package remote

import (
	"net"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
)

// TestValuesGoPastTheClient: the server fills and compares; what the client asks for
// must be its own memory, and there.
func TestValuesGoPastTheClient(t *testing.T) {
	fake := newFake()
	here, there := net.Pipe()
	server := Server{Device: fake, Values: func(v Values, n int) ([]float32, error) {
		x := make([]float32, n)
		for i := range x {
			x[i] = float32(100*v.Input+v.From+i)*v.Scale + v.Shift
		}
		return x, nil
	}}
	go func() { _ = server.Serve(there) }()
	d, err := Dial(here)
	require.NoError(t, err)
	defer d.Close()
	c := d.(*client)
	b, err := device.Alloc[float32](d, "x", 3)
	require.NoError(t, err)
	require.NoError(t, c.Give(b.Memory(), Values{Input: 2, From: 5, Scale: 2, Shift: 1}))
	got, err := b.CopyOut(d)
	require.NoError(t, err)
	assert.Equal(t, []float32{411, 413, 415}, got)

	same, err := c.Holds(b.Memory(), Values{Input: 2, From: 5, Scale: 2, Shift: 1})
	require.NoError(t, err)
	assert.True(t, same)
	same, err = c.Holds(b.Memory(), Of(2, 5))
	require.NoError(t, err)
	assert.False(t, same)

	wild := b.Memory()
	wild.Bytes *= 2
	assert.ErrorContains(t, c.Give(wild, Of(0, 0)), "beyond its 12 bytes")
	odd := b.Memory()
	odd.Bytes = 6
	assert.ErrorContains(t, c.Give(odd, Of(0, 0)), "whole numbers")
	server.Values = nil
	assert.ErrorContains(t, c.Give(b.Memory(), Of(0, 0)), "no values to give")
}
