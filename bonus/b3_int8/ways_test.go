package codes

// How the tests run the two ways, and decode what they wrote.

import (
	"errors"
	"testing"

	"flashlab/attn"
	"flashlab/attn/attntest"
	"flashlab/device"
)

// result is out, and what the codes stand for.
type result struct{ out, q, k, v []float64 }

// maker makes an Int8, on a device.
type maker func(t *testing.T) (device.Device, *Int8)

// way is one of the two methods: it runs, and decodes.
type way func(t *testing.T, d device.Device, it *Int8, e example) result

func upload(t *testing.T, d device.Device, name string, x []float32) device.Buffer[device.Float16] {
	t.Helper()
	bits := make([]device.Float16, len(x))
	for i, v := range x {
		bits[i] = device.ToFloat16(v)
	}
	b, err := device.Upload(d, name, bits)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// unwritten is memory that holds no value yet.
func unwritten[T device.Scalar](t *testing.T, d device.Device, name string, n int) device.Buffer[T] {
	t.Helper()
	b, err := device.Alloc[T](d, name, n)
	if err == nil {
		err = d.Poison(b.Memory())
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func ran(t *testing.T, d device.Device, name string, e example, err error) {
	t.Helper()
	if errors.Is(err, attn.ErrNotImplemented) {
		t.Fatalf("not implemented: %s in int8.go is still the stub (README.md says where to start)", name)
	}
	if err == nil {
		err = d.Sync()
	}
	if err != nil {
		attntest.Fatal(t, d, "%s, attention of %v: %v", name, e.Shape, err)
	}
}

func numbers[T int8 | float32](t *testing.T, d device.Device, b device.Buffer[T]) []float64 {
	t.Helper()
	x, err := b.CopyOut(d)
	if err != nil {
		t.Fatal(err)
	}
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = float64(v)
	}
	return y
}

func halves(t *testing.T, d device.Device, b device.Buffer[device.Float16]) []float64 {
	t.Helper()
	x, err := b.CopyOut(d)
	if err != nil {
		t.Fatal(err)
	}
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = float64(v.Float32())
	}
	return y
}

// perTensor runs PerTensor.
func perTensor(t *testing.T, d device.Device, it *Int8, e example) result {
	t.Helper()
	out := unwritten[device.Float16](t, d, "out", e.QElements())
	to := TensorCodes{unwritten[int8](t, d, "codes of q", len(e.q)), unwritten[int8](t, d, "codes of k", len(e.k)),
		unwritten[int8](t, d, "codes of v", len(e.v)), unwritten[float32](t, d, "affine", 6)}
	ran(t, d, "PerTensor", e, it.PerTensor(out, upload(t, d, "q", e.q), upload(t, d, "k", e.k), upload(t, d, "v", e.v), to, e.Shape))
	r, affine := result{out: halves(t, d, out)}, numbers(t, d, to.Affine)
	for i, x := range []struct {
		codes device.Buffer[int8]
		to    *[]float64
	}{{to.Q, &r.q}, {to.K, &r.k}, {to.V, &r.v}} {
		*x.to = numbers(t, d, x.codes)
		for at := range *x.to {
			(*x.to)[at] = ((*x.to)[at] - affine[2*i+1]) * affine[2*i]
		}
	}
	attntest.Findings(t, d)
	return r
}

// byBlock runs ByBlock.
func byBlock(t *testing.T, d device.Device, it *Int8, e example) result {
	t.Helper()
	out := unwritten[device.Float16](t, d, "out", e.QElements())
	to := BlockCodes{unwritten[int8](t, d, "codes of q", len(e.q)), unwritten[int8](t, d, "codes of k", len(e.k)),
		unwritten[float32](t, d, "scales of q", e.Heads*Blocks(e.SeqQ)), unwritten[float32](t, d, "scales of k", e.KVHeads*Blocks(e.SeqK)),
		unwritten[float32](t, d, "means of k", e.KVHeads*e.Dim)}
	ran(t, d, "ByBlock", e, it.ByBlock(out, upload(t, d, "q", e.q), upload(t, d, "k", e.k), upload(t, d, "v", e.v), to, e.Shape))
	r := result{out: halves(t, d, out), q: numbers(t, d, to.Q), k: numbers(t, d, to.K), v: wide(e.v)}
	qScale, kScale, mean := numbers(t, d, to.QScale), numbers(t, d, to.KScale), numbers(t, d, to.Mean)
	for at := range r.q {
		row := at / e.Dim
		r.q[at] *= qScale[row/e.SeqQ*Blocks(e.SeqQ)+row%e.SeqQ/Block]
	}
	for at := range r.k {
		row := at / e.Dim
		r.k[at] = r.k[at]*kScale[row/e.SeqK*Blocks(e.SeqK)+row%e.SeqK/Block] + mean[row/e.SeqK*e.Dim+at%e.Dim]
	}
	attntest.Findings(t, d)
	return r
}

func wide(x []float32) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = float64(v)
	}
	return y
}
