package attntest

import (
	"fmt"
	"slices"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"flashlab/device"
)

// MostSteps is how many steps Overlapping launches in a row, at most.
const MostSteps = 100

// Step is launch i of an object that a test has made: it reads what is its own, and writes out.
type Step[T device.Scalar] func(i int, out device.Buffer[T]) error

// Overlapping launches steps of two objects at once, and holds what they write, n numbers each, against what each
// object alone writes, to the bit. Both have the same module, as two streams of PyTorch's have it. begin makes an
// object on q, with numbers by its seed. A simulator runs the two one after the other.
func Overlapping[T device.Scalar](t *testing.T, n int, begin func(t *testing.T, d device.Device, q device.Queue, seed uint64) Step[T]) {
	t.Helper()
	d := Device(t)
	q := &once{device.QueueOf(d), map[string]device.Module{}}
	steps, rounds := 2, 1
	together := func(graphs ...device.Graph) error {
		for _, g := range graphs {
			if err := g.Launch(); err != nil {
				return err
			}
		}
		return nil
	}
	if gpu, ok := d.(interface{ Together(...device.Graph) error }); ok {
		steps, rounds, together = MostSteps, 50, gpu.Together
	}
	var graphs [2]device.Graph
	var outs [2]device.Buffer[T]
	var alone [2][]T
	for i := range graphs {
		var err error
		outs[i], err = device.Alloc[T](d, "outputs of all steps", steps*n)
		require.NoError(t, err)
		step := begin(t, d, q, uint64(i+1))
		all := func(device.Queue) error {
			for s := range steps {
				out, err := outs[i].Slice(s*n, (s+1)*n)
				if err == nil {
					err = step(s, out)
				}
				if err != nil {
					return err
				}
			}
			return nil
		}
		require.NoError(t, all(q))
		alone[i], err = outs[i].CopyOut(d)
		require.NoError(t, err)
		graphs[i], err = d.Record(all)
		require.NoError(t, err)
	}
	require.NotEqual(t, alone[0], alone[1], "both objects were given the same numbers")
	for round := range rounds {
		require.NoError(t, d.Poison(outs[0].Memory()))
		require.NoError(t, d.Poison(outs[1].Memory()))
		require.NoError(t, together(graphs[:]...))
		for i := range outs {
			got, err := outs[i].CopyOut(d)
			require.NoError(t, err)
			if !slices.Equal(got, alone[i]) {
				at := 0
				for got[at] == alone[i][at] {
					at++
				}
				require.Fail(t, "launches that overlap disturb each other", "round %d, object %d: number %d of step %d is %v, and %v where it runs alone",
					round, i, at%n, at/n, got[at], alone[i][at])
			}
		}
	}
	for _, g := range graphs {
		require.NoError(t, g.Close())
	}
	Findings(t, d)
}

// Filled is a buffer of n values that come one after the other, for one test.
func Filled[T device.Scalar](t *testing.T, d device.Device, name string, n int, next func() T) device.Buffer[T] {
	t.Helper()
	values := make([]T, n)
	for i := range values {
		values[i] = next()
	}
	b, err := device.Upload(d, name, values)
	require.NoError(t, err)
	return b
}

// Inputs are different ones for each step, of n values: each begins 16 bytes behind the one before, in one buffer.
func Inputs[T device.Scalar](t *testing.T, d device.Device, name string, n int, next func() T) func(i int) (device.Buffer[T], error) {
	t.Helper()
	var zero T
	step := 16 / int(unsafe.Sizeof(zero))
	all := Filled(t, d, name, n+step*MostSteps, next)
	return func(i int) (device.Buffer[T], error) { return all.Slice(step*i, step*i+n) }
}

// once compiles a source a single time: all that ask for it get the same module.
type once struct {
	device.Queue
	modules map[string]device.Module
}

func (o *once) Compile(src device.Source) (device.Module, error) {
	key := fmt.Sprint(src.Folder, src.Name, src.Defines) // maps print in order
	if m := o.modules[key]; m != nil {
		return m, nil
	}
	m, err := o.Queue.Compile(src)
	if err == nil {
		o.modules[key] = m
	}
	return m, err
}
