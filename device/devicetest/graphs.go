package devicetest

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
)

var oneThread = device.Launch{Grid: device.D1(1), Block: device.D1(1)}

// steps is work that launches step, x = 3x + k, for each k.
func steps(t *testing.T, b bench, x device.Buffer[uint32], ks ...uint32) func(q device.Queue) error {
	step := b.kernel(t, "step")
	return func(q device.Queue) error {
		for _, k := range ks {
			if err := q.Launch(step, oneThread, x, k); err != nil {
				return err
			}
		}
		return nil
	}
}

func record(t *testing.T, b bench, work func(q device.Queue) error) device.Graph {
	t.Helper()
	g, err := b.Record(work)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, g.Close()) })
	return g
}

// replaysGraphs: three launches that depend on each other, 100 times, in order
// also with what is launched on its own.
func replaysGraphs(t *testing.T, b bench) {
	x := upload(t, b, "x", []uint32{7})
	work := steps(t, b, x, 1, 20, 300)
	g := record(t, b, work)
	want := uint32(7)
	require.Equal(t, []uint32{want}, download(t, b, x), "recording runs nothing")
	for i := range 100 {
		require.NoError(t, g.Launch())
		for _, k := range []uint32{1, 20, 300} {
			want = want*3 + k
		}
		if i == 50 {
			require.NoError(t, steps(t, b, x, 4000)(b))
			want = want*3 + 4000
		}
	}
	assert.Equal(t, []uint32{want}, download(t, b, x))
}

// recordsFills: Set and Poison are part of a graph, and so is what goes to a
// queue that was there before: a kernel made by a New holds one.
func recordsFills(t *testing.T, b bench) {
	x, y := upload(t, b, "x", []uint32{7}), upload(t, b, "y", pattern(7))
	before := device.QueueOf(b.Device)
	g := record(t, b, func(q device.Queue) error {
		return errors.Join(q.Set(x.Memory(), 1), steps(t, b, x, 2)(before), b.Poison(y.Memory()))
	})
	assert.Equal(t, []uint32{7}, download(t, b, x))
	for range 2 {
		require.NoError(t, g.Launch())
		assert.Equal(t, []uint32{0x01010101*3 + 2}, download(t, b, x))
	}
	assert.NotEqual(t, pattern(7), download(t, b, y))
}

func updatesGraphs(t *testing.T, b bench) {
	x, y := upload(t, b, "x", []uint32{1}), upload(t, b, "y", []uint32{2})
	g := record(t, b, steps(t, b, x, 5, 6))
	for _, c := range []struct {
		name string
		on   device.Buffer[uint32]
		ks   []uint32
	}{
		{"other numbers", x, []uint32{50, 60}},
		{"another buffer", y, []uint32{7, 8}},
		{"more launches", x, []uint32{1, 2, 3, 4}},
		{"fewer launches", x, []uint32{9}},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := download(t, b, c.on)[0]
			require.NoError(t, g.Update(steps(t, b, c.on, c.ks...)))
			for range 2 {
				require.NoError(t, g.Launch())
				for _, k := range c.ks {
					want = want*3 + k
				}
			}
			assert.Equal(t, []uint32{want}, download(t, b, c.on))
		})
	}

	// A failed update leaves the graph as it was: x = 3x + 9.
	broken := errors.New("broken")
	require.ErrorIs(t, g.Update(func(q device.Queue) error {
		require.NoError(t, steps(t, b, x, 1000)(q))
		return broken
	}), broken)
	want := download(t, b, x)[0]*3 + 9
	require.NoError(t, g.Launch())
	assert.Equal(t, []uint32{want}, download(t, b, x))

	require.NoError(t, g.Close())
	require.NoError(t, g.Close(), "closing twice")
	assert.ErrorIs(t, g.Launch(), device.ErrGraphClosed)
	assert.ErrorIs(t, g.Update(steps(t, b, x, 1)), device.ErrGraphClosed)
}

// refusesRecording: what a graph cannot hold is refused, fails the recording
// even where work does not care, and leaves the device usable.
func refusesRecording(t *testing.T, b bench) {
	x := upload(t, b, "x", []uint32{7})
	other := record(t, b, steps(t, b, x, 1))
	for _, c := range []struct {
		name string
		call func(q device.Queue) error
	}{
		{"alloc", func(q device.Queue) error { _, err := q.Malloc("scratch", 4); return err }},
		{"free", func(q device.Queue) error { return q.Free(x.Memory()) }},
		{"copy to", func(q device.Queue) error { return x.CopyIn(q, []uint32{1}) }},
		{"copy from", func(q device.Queue) error { _, err := x.CopyOut(q); return err }},
		{"compile", func(q device.Queue) error {
			_, err := q.Compile(device.Source{Name: "kernels.cu", Text: kernels})
			return err
		}},
		{"sync", func(device.Queue) error { return b.Sync() }},
		{"launch a graph", func(device.Queue) error { return other.Launch() }},
		{"record a graph", func(device.Queue) error { _, err := b.Record(steps(t, b, x, 2)); return err }},
	} {
		t.Run(c.name, func(t *testing.T) {
			var refused error
			g, err := b.Record(func(q device.Queue) error {
				require.NoError(t, steps(t, b, x, 1)(q))
				refused = c.call(q)
				return nil
			})
			require.ErrorIs(t, refused, device.ErrNotRecordable)
			require.ErrorIs(t, err, device.ErrNotRecordable)
			assert.Contains(t, err.Error(), c.name)
			assert.Nil(t, g)
			assert.Equal(t, []uint32{7}, download(t, b, x), "nothing ran, and the device works")
		})
	}
}

func checksRecordings(t *testing.T, b bench) {
	x := upload(t, b, "x", []uint32{7})
	step := b.kernel(t, "step")
	for name, work := range map[string]func(q device.Queue) error{
		"an argument": func(q device.Queue) error { return q.Launch(step, oneThread, x, "4") },
		"the grid":    func(q device.Queue) error { return q.Launch(step, device.Launch{Block: device.D1(1)}, x, 4) },
	} {
		_, err := b.Record(work)
		require.ErrorIs(t, err, device.ErrLaunch, name)
	}
	_, err := b.Record(func(device.Queue) error { return nil })
	require.ErrorIs(t, err, device.ErrGraphEmpty)
	require.Panics(t, func() { _, _ = b.Record(func(device.Queue) error { panic("in work") }) })
	assert.Equal(t, []uint32{7}, download(t, b, x), "nothing ran, and the device works")
}

// tellsAttributes: blockSum declares 256 floats, reverse asks at its launch.
func tellsAttributes(t *testing.T, b bench) {
	for name, shared := range map[string]int{"blockSum": 1024, "reverse": 0, "add": 0} {
		a, err := b.Attributes(b.kernel(t, name))
		require.NoError(t, err)
		assert.Equal(t, shared, a.SharedBytes, name)
		assert.NotZero(t, a.Registers, name)
		assert.Positive(t, a.MaxThreads, name)
		assert.LessOrEqual(t, a.MaxThreads, b.Info().MaxThreads, name)
	}
	_, err := b.Attributes(nil)
	require.ErrorIs(t, err, device.ErrLaunch)
}
