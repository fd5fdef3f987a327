package nn

import (
	"testing"

	"github.com/stretchr/testify/require"

	"flashlab/attn/attntest"
	"flashlab/device"
	"flashlab/grader/grading/judge"
	"flashlab/tensor"
)

// bench is an open device with the layers.
type bench struct {
	device.Device
	*Layers
}

func start(t testing.TB) bench {
	t.Helper()
	d := attntest.Device(t)
	l, err := newFor(device.QueueOf(d), d.Info().Kind == device.Sim || d.Info().Arch == "sm_90")
	require.NoError(t, err)
	return bench{d, l}
}

var seed uint64 = 20

// normal makes n numbers that no other call has made.
func normal(t *testing.T, n int) []float32 {
	t.Helper()
	seed++
	x, err := tensor.Random(tensor.Normal, seed, 0, n)
	require.NoError(t, err)
	return x.Data
}

// on puts numbers on the device.
func on[T device.Scalar](t testing.TB, d device.Device, name string, values []T) device.Buffer[T] {
	t.Helper()
	b, err := device.Upload(d, name, values)
	require.NoError(t, err)
	t.Cleanup(func() { _ = b.Free(d) })
	return b
}

// output makes room, poisoned.
func output[T device.Scalar](t testing.TB, d device.Device, name string, n int) device.Buffer[T] {
	t.Helper()
	b, err := device.Alloc[T](d, name, n)
	require.NoError(t, err)
	t.Cleanup(func() { _ = b.Free(d) })
	require.NoError(t, d.Poison(b.Memory()))
	return b
}

// read fetches what was computed, and fails the test for findings.
func read[T device.Scalar](t *testing.T, d device.Device, b device.Buffer[T]) []T {
	t.Helper()
	if b, ok := d.(bench); ok {
		d = b.Device // Findings wants to know a simulator when it sees one
	}
	if err := d.Sync(); err != nil {
		attntest.Fatal(t, d, "%v", err)
	}
	values, err := b.CopyOut(d)
	require.NoError(t, err)
	attntest.Findings(t, d)
	return values
}

// near holds a result against the truth, by the grader's own bound.
func near(t *testing.T, what string, got []float32, truth judge.Truth) {
	t.Helper()
	require.Len(t, got, len(truth.Want), what)
	require.True(t, truth.Judge(truth.Plain).Passed, "%s: plain float32 passes", what)
	if j := truth.Judge(got); !j.Passed {
		t.Fatalf("%s: element %d of row %d is %.8g, want %.8g; the row's error is %.2g, at most %.2g is allowed",
			what, j.Worst%truth.Len, truth.Row(j.Worst), j.Got, j.Want, j.Error, j.Bound)
	}
}

// float is what an evaluation is carried out in.
type float interface{ float32 | float64 }

// rowsOf is a truth of rows, relative to each row's RMS.
func rowsOf(width int, want []float64, plain []float32) judge.Truth {
	return judge.Truth{Layout: judge.Layout{Outer: len(want) / width, Len: width, Inner: 1}, Want: want, Plain: plain}
}
