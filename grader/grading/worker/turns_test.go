package worker

import (
	"errors"
	"math"
	"net"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/attn"
	"flashlab/attn/attntest"
	"flashlab/device"
	"flashlab/grader/grading/problem"
	"flashlab/grader/grading/wire"
	"flashlab/internal/frame"
	"flashlab/tensor"
)

// sides is a kernel that a test gives: what it does with a run's buffers.
type sides func(q device.Queue, y, x device.Buffer[float32]) error

// dialogue is a timed softmax in the simulator, with a test on the grader's side.
type dialogue struct {
	t     *testing.T
	conn  net.Conn
	done  chan error
	ready wire.Ready
}

const elements = 64

var inf = float32(math.Inf(1))

func talk(t *testing.T, do sides) *dialogue {
	t.Helper()
	d := attntest.Device(t)
	here, there := net.Pipe()
	m := Once(func(q device.Queue) (device.Queue, error) { return q, nil })
	op := OnDevice(m, func(q device.Queue, _ problem.Problem, out, in Buffers) error { return do(q, out[0], in[0]) })
	g := &dialogue{t: t, conn: here, done: make(chan error, 1)}
	go func() { g.done <- Loop(there, d, map[string]Op{"softmax": op}) }()
	shape := []int{elements}
	c := problem.Problem{ID: 1, Op: "softmax", Timed: true, Inputs: []problem.Tensor{{Name: "x", Shape: shape, Dist: tensor.Normal, Stream: 3}},
		Outputs: []problem.Tensor{{Name: "y", Shape: shape}}}
	g.ask(c, &g.ready)
	require.Nil(t, g.ready.Error)
	return g
}

func (g *dialogue) ask(what, answer any) {
	g.t.Helper()
	require.NoError(g.t, frame.Write(g.conn, what, nil))
	_, err := frame.Read(g.conn, answer)
	require.NoError(g.t, err)
}

func (g *dialogue) run(seed uint64) (took wire.Took) {
	g.t.Helper()
	g.ask(wire.Turn{Who: wire.Ours, Seed: seed}, &took)
	return took
}

func (g *dialogue) pieces(size int, from ...int) ([]float32, *wire.Error) {
	g.t.Helper()
	require.NoError(g.t, frame.Write(g.conn, wire.Turn{Rows: from, Size: size}, nil))
	p, values, err := wire.ReadPieces(g.conn, size*len(from))
	require.NoError(g.t, err)
	return values, p.Error
}

func (g *dialogue) end() {
	g.t.Helper()
	require.NoError(g.t, frame.Write(g.conn, wire.Turn{End: true}, nil))
	g.conn.Close()
	assert.NoError(g.t, <-g.done)
}

// copyOver writes the input to the output, by the host.
func copyOver(q device.Queue, y, x device.Buffer[float32]) error {
	values, err := x.CopyOut(q)
	if err != nil {
		return err
	}
	return y.CopyIn(q, values)
}

func TestEachRunHasItsOwnInputsAndPlaces(t *testing.T) {
	places := map[uint64]bool{}
	g := talk(t, func(q device.Queue, y, x device.Buffer[float32]) error {
		places[x.Memory().Addr], places[y.Memory().Addr] = true, true
		return copyOver(q, y, x)
	})
	defer g.end()
	onGPU := g.ready.Device.Kind != device.Sim // there these times are a clock's, and cuBLAS is there
	assert.Equal(t, onGPU, g.ready.Clock)
	assert.Equal(t, onGPU, g.ready.NoBaseline == "")
	_, err := g.pieces(4, 0)
	require.NotNil(t, err, "nothing has run yet")
	for _, seed := range []uint64{7, 8, 1 << 40, 7} {
		took := g.run(seed)
		require.Nil(t, took.Error)
		assert.Zero(t, took.Bad)
		assert.Equal(t, onGPU, took.Device > 0)
		assert.Positive(t, took.Host)
		got, err := g.pieces(4, 0, elements-4)
		require.Nil(t, err)
		want := make([]float32, elements)
		require.NoError(t, tensor.Fill(want, tensor.Normal, seed, 3, 0))
		assert.Equal(t, append(append([]float32{}, want[:4]...), want[elements-4:]...), got)
	}
	assert.Greater(t, len(places), 2, "the buffers move")
	_, err = g.pieces(4, elements)
	assert.NotNil(t, err, "beyond the output")
}

// TestReading looks at the kernel that cleans the cache: it sees each piece, and writes
// nothing where all is zero.
func TestReading(t *testing.T) {
	d := attntest.Device(t)
	k, err := newGauge(d)
	require.NoError(t, err)
	defer k.close()
	for _, n := range []int{4, 68, 40000} {
		zeros, err := device.Upload(d, "zeros", make([]uint32, n))
		require.NoError(t, err)
		for at, seen := range map[int]uint32{-1: 0, 0: 5, n - 1: 5, n / 2: 5} {
			values := make([]uint32, n)
			if at >= 0 {
				values[at] = 5
			}
			require.NoError(t, zeros.CopyIn(d, values))
			require.NoError(t, d.Set(k.count.Memory(), 0))
			require.NoError(t, k.read(zeros.Memory()))
			got, err := k.count.CopyOut(d)
			require.NoError(t, err)
			assert.Equal(t, seen, got[0], "%d of %d", at, n)
		}
		require.NoError(t, zeros.Free(d))
	}
}

func TestWhatIsNotWrittenIsSeen(t *testing.T) {
	g := talk(t, func(q device.Queue, y, x device.Buffer[float32]) error {
		part, err := y.Slice(0, elements-5)
		if err != nil {
			return err
		}
		return part.CopyIn(q, make([]float32, elements-5))
	})
	defer g.end()
	assert.EqualValues(t, 5, g.run(1).Bad)
	assert.EqualValues(t, 5, g.run(2).Bad, "what a run before wrote is gone")
}

func TestErrorsAndPanicsAreTheRuns(t *testing.T) {
	next := errors.New("no")
	g := talk(t, func(q device.Queue, y, x device.Buffer[float32]) error {
		if next == nil {
			panic("oh")
		}
		return next
	})
	defer g.end()
	assert.Equal(t, "no", g.run(1).Error.Text)
	next = attn.ErrNotImplemented
	assert.Equal(t, wire.NotImplemented, g.run(2).Error.Class)
	next = nil
	assert.Equal(t, wire.Panicked, g.run(3).Error.Class)
	var took wire.Took
	g.ask(wire.Turn{Who: "nobody", Seed: 1}, &took)
	assert.Contains(t, took.Error.Text, "nobody")
	g.ask(wire.Turn{Who: wire.Baseline, Seed: 1}, &took)
	require.NotNil(t, took.Error, "there is no baseline in the simulator")
}

func TestWorkBetweenTheRunsIsNoted(t *testing.T) {
	late := make(chan struct{})
	asked := make(chan error)
	g := talk(t, func(q device.Queue, y, x device.Buffer[float32]) error {
		if late != nil {
			wait := late
			late = nil
			go func() {
				<-wait
				asked <- q.Set(y.Memory(), 1)
			}()
		}
		return copyOver(q, y, x)
	})
	wait := late
	defer g.end()
	assert.Empty(t, g.run(1).Outside)
	close(wait)
	assert.ErrorIs(t, <-asked, errOutside)
	assert.Equal(t, "set y", g.run(2).Outside)
}
