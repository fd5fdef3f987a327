package remote

import (
	"net"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
	"flashlab/device/protocol"
	"flashlab/tensor"
)

// TestValuesGoPastTheClient: the server fills; what the client asks for
// must be its own memory, and there.
func TestValuesGoPastTheClient(t *testing.T) {
	fake := newFake()
	here, there := net.Pipe()
	server := Server{Device: fake, Values: func(to device.Memory, v Values, n int) ([]float32, error) {
		assert.Contains(t, []string{"x", "h"}, to.Name)
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

	halves, err := device.Alloc[device.BFloat16](d, "h", 2)
	require.NoError(t, err)
	rounded := Values{Input: 1, Scale: 1, Shift: 0.25, Type: tensor.BFloat16} // 100.25 and 101.25 lie between two numbers
	require.NoError(t, c.Give(halves.Memory(), rounded))
	held, err := halves.CopyOut(d)
	require.NoError(t, err)
	assert.Equal(t, []device.BFloat16{device.ToBFloat16(100), device.ToBFloat16(101)}, held)
	unknown := Values{Type: "float15"}
	assert.ErrorContains(t, c.Give(halves.Memory(), unknown), "unknown type")
	assert.ErrorContains(t, c.ask(protocol.New(protocol.OpGive, halves.Memory(), unknown.send()), nil), "unknown type", "said past the client's own check")

	wild := b.Memory()
	wild.Bytes *= 2
	assert.ErrorContains(t, c.Give(wild, Of(0, 0)), "beyond its 12 bytes")
	odd := b.Memory()
	odd.Bytes = 6
	assert.ErrorContains(t, c.Give(odd, Of(0, 0)), "whole numbers")
	server.Values = nil
	assert.ErrorContains(t, c.Give(b.Memory(), Of(0, 0)), "no values to give")
}
