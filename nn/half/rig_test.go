package half

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"flashlab/attn/attntest"
	"flashlab/device"
	"flashlab/grader/grading/judge"
	"flashlab/tensor"
)

// rig is an open device with the layers.
type rig struct {
	*testing.T
	d device.Device
	*Layers
	seed uint64
}

func start(t *testing.T) *rig {
	t.Helper()
	d := attntest.Device(t)
	l, err := New(device.QueueOf(d))
	require.NoError(t, err)
	return &rig{t, d, l, 30}
}

// random are numbers that no other call has made, as halves hold them. Some are 30 times as large.
func (r *rig) random(n int) []float32 {
	r.Helper()
	r.seed++
	x, err := tensor.Random(tensor.Normal, r.seed, 0, n)
	require.NoError(r, err)
	for i := range x.Data {
		if i%37 == 5 {
			x.Data[i] *= 30
		}
	}
	tensor.Float16.Round(x.Data)
	return x.Data
}

// on puts numbers on the device as halves.
func (r *rig) on(name string, x []float32) Halves {
	r.Helper()
	bits := make([]device.Float16, len(x))
	for i, v := range x {
		bits[i] = device.ToFloat16(v)
	}
	return put(r, name, bits)
}

func put[T device.Scalar](r *rig, name string, x []T) device.Buffer[T] {
	r.Helper()
	b, err := device.Upload(r.d, name, x)
	require.NoError(r, err)
	r.Cleanup(func() { _ = b.Free(r.d) })
	return b
}

// room is poisoned.
func room[T device.Scalar](r *rig, name string, n int) device.Buffer[T] {
	r.Helper()
	b, err := device.Alloc[T](r.d, name, n)
	require.NoError(r, err)
	r.Cleanup(func() { _ = b.Free(r.d) })
	require.NoError(r, r.d.Poison(b.Memory()))
	return b
}

func (r *rig) out(n int) Halves { return room[device.Float16](r, "out", n) }

func fetch[T device.Scalar](r *rig, b device.Buffer[T]) []T {
	r.Helper()
	if err := r.d.Sync(); err != nil {
		attntest.Fatal(r.T, r.d, "%v", err)
	}
	x, err := b.CopyOut(r.d)
	require.NoError(r, err)
	attntest.Findings(r.T, r.d)
	return x
}

func (r *rig) read(b Halves) []float32 {
	r.Helper()
	bits := fetch(r, b)
	x := make([]float32, len(bits))
	for i, v := range bits {
		x[i] = v.Float32()
	}
	return x
}

// near holds a result against the truth, by the grader's own bound. Where the plain way itself exceeds that, the bound is one
// and a half times its worst row's error: a row may be little more than one large number, whose rounding is then all of its
// error. plain is float32's, not yet rounded.
func (r *rig) near(what string, got []float32, t judge.Truth) {
	r.Helper()
	require.Len(r, got, len(t.Want), what)
	t.Plain = append([]float32{}, t.Plain...)
	t.Type.Round(t.Plain)
	for _, y := range t.Plain { // a bound of infinity would pass anything
		require.False(r, math.IsInf(float64(y), 0) || y != y, "%s: the type holds every result", what)
	}
	if plain := t.Judge(t.Plain); !plain.Passed {
		require.Less(r, plain.Error, 2*plain.Bound, "%s: more than rounding one number explains", what)
		t.Least, t.Because = 1.5*plain.Error, "1.5 × the plain way's worst row"
	}
	if j := t.Judge(got); !j.Passed {
		r.Fatalf("%s: element %d of row %d is %.8g, want %.8g; the row's error is %.2g, at most %.2g is allowed",
			what, j.Worst%t.Len, t.Row(j.Worst), j.Got, j.Want, j.Error, j.Bound)
	}
}

// truth is of rows of halves, relative to each row's RMS.
func truth(width int, want []float64, plain []float32) judge.Truth {
	return judge.Truth{Layout: judge.Layout{Outer: len(want) / width, Len: width, Inner: 1}, Want: want, Plain: plain, Type: tensor.Float16}
}

// number is what an evaluation is carried out in.
type number interface{ float32 | float64 }

func exp[T number](x T) T { return T(math.Exp(float64(x))) }
