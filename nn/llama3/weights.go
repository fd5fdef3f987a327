package llama3

import (
	"errors"
	"fmt"
	"sync"

	"github.com/x448/float16"

	"flashlab/device"
)

// Weights is where a model's weights come from. They are read in pieces, so that
// a model larger than the machine's memory can still be put on a device.
type Weights interface {
	Config() Config
	// About says in a few words what they are, for people.
	About() string
	// Read fills into with the values of one weight (row-major, matrices as [out, in])
	// from number from on. bfloat16 and float16 are widened exactly.
	Read(t Tensor, from int, into []float32) error
}

// Whole reads all of one weight.
func Whole(w Weights, t Tensor) ([]float32, error) {
	x := make([]float32, t.Elements())
	return x, w.Read(t, 0, x)
}

// piece is how many values are read, or made, at once: 16 MB of float32.
const piece = 1 << 22

// Halves reads one weight as float16, a piece at a time, which is put's only until it
// returns. Each value is rounded to the nearest half; one that none holds is an error.
func Halves(w Weights, t Tensor, put func(from int, halves []device.Float16) error) error {
	n := t.Elements()
	x := make([]float32, min(n, piece))
	halves := make([]device.Float16, len(x))
	for from := 0; from < n; from += piece {
		x, halves := x[:min(piece, n-from)], halves[:min(piece, n-from)]
		if err := w.Read(t, from, x); err != nil {
			return err
		}
		if err := inParts(len(x), func(a, b int) error { return narrow(halves[a:b], x[a:b]) }); err != nil {
			return fmt.Errorf("the weight %s: %w", t.Name, err)
		}
		if err := put(from, halves); err != nil {
			return err
		}
	}
	return nil
}

func narrow(halves []device.Float16, x []float32) error {
	for i, v := range x {
		h := float16.Fromfloat32(v)
		if !h.IsFinite() {
			return fmt.Errorf("it holds %g, and the largest half is 65504: this model cannot run in halves", v)
		}
		halves[i] = device.Float16(h)
	}
	return nil
}

// part is how many values one goroutine works on.
const part = 1 << 18

// inParts runs f on all of n values, in parallel.
func inParts(n int, f func(from, to int) error) error {
	errs := make([]error, (n+part-1)/part)
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() { errs[i] = f(i*part, min(n, (i+1)*part)) })
	}
	all.Wait()
	return errors.Join(errs...)
}
