package corpus

import (
	"fmt"

	"flashlab/device"
	"flashlab/tensor"
)

// Case is a right kernel, or a few that belong together, on one problem.
type Case struct {
	Name    string   // "gemm_tiled/33x65x47"
	Kernels []string // that it launches
	run     func(b *bench) outcome
}

// outcome is what a device computed beside what it should have.
type outcome struct {
	got, want []float64
	bound     float64 // of the absolute difference; 0 where results are exact
	why       string  // the bound is what it is
}

// Cases lists every case.
func Cases() []Case {
	var all []Case
	for _, part := range [][]Case{sums(), scans(), transposes(), gemms(), rowCases(), elementwise(), histograms(), stencils(), flashes(), gemvs(), sorts(), tensors(), tensorCores()} {
		all = append(all, part...)
	}
	return all
}

// bench runs a case on a device. Its first error sticks, so that cases read as
// straight lines; all it allocates is freed by done.
type bench struct {
	load    *loader
	err     error
	memory  []device.Memory
	replace map[string]string // of kernels by variants of them
}

func (b *bench) fail(err error) {
	if b.err == nil {
		b.err = err
	}
}

// upload makes a buffer that holds data.
func upload[T device.Scalar](b *bench, name string, data []T) device.Buffer[T] {
	if b.err != nil {
		return device.Buffer[T]{}
	}
	buf, err := device.Upload(b.load.device, name, data)
	if err != nil {
		b.fail(err)
	} else {
		b.memory = append(b.memory, buf.Memory())
	}
	return buf
}

// alloc makes a buffer that holds nothing.
func alloc[T device.Scalar](b *bench, name string, n int) device.Buffer[T] {
	if b.err != nil {
		return device.Buffer[T]{}
	}
	buf, err := device.Alloc[T](b.load.device, name, n)
	if err != nil {
		b.fail(err)
		return buf
	}
	b.memory = append(b.memory, buf.Memory())
	b.fail(b.load.device.Poison(buf.Memory())) // on a GPU, too, what is not written shall show
	return buf
}

// download reads a buffer as float64, which holds every element exactly.
func download[T device.Scalar](b *bench, buf device.Buffer[T]) []float64 {
	if b.err != nil {
		return nil
	}
	data, err := buf.CopyOut(b.load.device)
	b.fail(err)
	return widen(data)
}

func widen[T device.Scalar](data []T) []float64 {
	wide := make([]float64, len(data))
	for i, v := range data {
		wide[i] = float64(v)
	}
	return wide
}

// launch runs a kernel of a file in kernels/.
func (b *bench) launch(file, kernel string, l device.Launch, args ...any) {
	if b.err != nil {
		return
	}
	if other := b.replace[kernel]; other != "" {
		kernel = other
	}
	k, err := b.load.kernel("kernels/"+file, kernel)
	if err != nil {
		b.fail(err)
		return
	}
	b.fail(b.load.device.Launch(k, l, args...))
}

// done waits, frees, and says what went wrong.
func (b *bench) done() error {
	b.fail(b.load.device.Sync())
	for _, m := range b.memory {
		b.fail(b.load.device.Free(m))
	}
	if b.err != nil {
		return fmt.Errorf("the case did not run: %w", b.err)
	}
	return nil
}

// random is n numbers in [-1, 1), by a stream's number.
func random(stream uint32, n int) []float32 {
	data := make([]float32, n)
	_ = tensor.Fill(data, tensor.Uniform, 2026, stream, 0) // a known distribution: it cannot fail
	return data
}

// randomInts is n integers in [low, high).
func randomInts(stream uint32, n, low, high int) []int32 {
	data := make([]int32, n)
	for i, v := range random(stream, n) {
		data[i] = int32(low + int(float64(high-low)*(float64(v)+1)/2))
	}
	return data
}

// roundoff is half the distance from 1 to the next float32.
const roundoff = 0x1p-24

func grid(n, size int) int { return (n + size - 1) / size }
