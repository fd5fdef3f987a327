package worker

import (
	"net"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/attn/attntest"
	"flashlab/device"
	"flashlab/grader/grading/problem"
	"flashlab/grader/grading/wire"
	"flashlab/tensor"
)

// narrow is a copy of a tensor of a type, by the host.
func narrow(ty tensor.Type, timed bool) (problem.Problem, Op) {
	m := Once(func(q device.Queue) (device.Queue, error) { return q, nil })
	op := OnDevice(m, func(q device.Queue, _ problem.Problem, out, in Places) error {
		raw := make([]byte, in[0].Bytes)
		if err := q.CopyOut(raw, in[0]); err != nil {
			return err
		}
		return q.CopyIn(out[0], raw)
	})
	shape := []int{elements}
	return problem.Problem{ID: 1, Op: "copy", Timed: timed, Seed: 7,
		Inputs:  []problem.Tensor{{Name: "x", Shape: shape, Dist: tensor.Normal, Stream: 3, Type: ty}},
		Outputs: []problem.Tensor{{Name: "y", Shape: shape, Type: ty}}}, op
}

// TestNarrowTensors: they come to the device in their own type, and back.
func TestNarrowTensors(t *testing.T) {
	d := attntest.Device(t)
	for _, ty := range tensor.Types {
		c, op := narrow(ty, false)
		want, err := c.Inputs[0].Random(c.Seed)
		require.NoError(t, err)
		here, there := net.Pipe()
		done := make(chan error, 1)
		go func() { done <- Loop(there, d, map[string]Op{"copy": op}) }()
		require.NoError(t, wire.WriteCase(here, c, nil))
		_, a, err := wire.ReadReply(here, c)
		require.NoError(t, err)
		require.NotNil(t, a)
		assert.Equal(t, want, a.Tensors[0], ty)
		here.Close()
		assert.NoError(t, <-done)
	}
}

// TestNarrowTensorsAreTimed: each run's inputs are of the type, what is no number is counted, and
// pieces come as numbers.
func TestNarrowTensorsAreTimed(t *testing.T) {
	d := attntest.Device(t)
	for _, ty := range tensor.Types {
		c, op := narrow(ty, true)
		here, there := net.Pipe()
		g := &dialogue{t: t, conn: here, done: make(chan error, 1)}
		go func() { g.done <- Loop(there, d, map[string]Op{"copy": op}) }()
		g.ask(c, &g.ready)
		require.Nil(t, g.ready.Error)
		took := g.run(9)
		require.Nil(t, took.Error)
		assert.Zero(t, took.Bad)
		want, err := c.Inputs[0].Random(9)
		require.NoError(t, err)
		got, failed := g.pieces(4, 0, elements-4)
		require.Nil(t, failed)
		assert.Equal(t, append(append([]float32{}, want.Data[:4]...), want.Data[elements-4:]...), got, ty)
		for _, from := range []int{elements, -4} {
			_, failed = g.pieces(4, from)
			assert.NotNil(t, failed, "beyond the output")
		}
		g.end()
	}
}

// TestBadNarrowNumbers: infinity and NaN are counted in every float; an integer cannot be bad, and
// E8M0 has no infinity.
func TestBadNarrowNumbers(t *testing.T) {
	d := attntest.Device(t)
	g, err := newGauge(d)
	require.NoError(t, err)
	defer g.close()
	for _, ty := range tensor.Types {
		m, err := d.Malloc("x", int64(ty.Bytes(8)))
		require.NoError(t, err)
		of := []problem.Tensor{{Shape: []int{8}, Type: ty}}
		require.NoError(t, d.Set(m, 0xff))
		bad, err := g.bad(Places{m}, of)
		require.NoError(t, err)
		_, float := ty.Unwritten()
		assert.Equal(t, float, bad == 8, ty)
		raw := ty.Encode([]float32{1, -2, 0, 7, -inf, inf, inf - inf, 5})
		require.NoError(t, d.CopyIn(m, raw))
		bad, err = g.bad(Places{m}, of)
		require.NoError(t, err)
		want := uint32(3)
		if ty == tensor.E8M0 {
			want = 1
		}
		assert.Equal(t, float, bad == want, ty)
	}
}

// TestWideningAndNarrowing: what the baseline of 16-bit tensors needs, bit for bit.
func TestWideningAndNarrowing(t *testing.T) {
	d := attntest.Device(t)
	g, err := newGauge(d)
	require.NoError(t, err)
	defer g.close()
	for _, ty := range []tensor.Type{tensor.Float16, tensor.BFloat16} {
		of := problem.Tensor{Shape: []int{3, 111}, Type: ty, Dist: tensor.Uneven}
		x, err := of.Random(4)
		require.NoError(t, err)
		narrow, err := device.Upload(d, "narrow", ty.Encode(x.Data))
		require.NoError(t, err)
		wide, err := device.Alloc[float32](d, "wide", of.Elements())
		require.NoError(t, err)
		require.NoError(t, g.convert(g.widen, wide.Memory(), narrow.Memory(), of))
		got, err := wide.CopyOut(d)
		require.NoError(t, err)
		assert.Equal(t, x.Data, got, ty)
		for i := range got { // some that the type does not have
			got[i] *= 1.0001
		}
		require.NoError(t, wide.CopyIn(d, got))
		require.NoError(t, g.convert(g.narrow, narrow.Memory(), wide.Memory(), of))
		bits, err := narrow.CopyOut(d)
		require.NoError(t, err)
		assert.Equal(t, ty.Encode(got), bits, ty)
	}
}
