package llama3

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"flashlab/tensor/quant"
)

// Encoded is a matrix in some format.
type Encoded interface {
	Numbers() []float32
	Bytes() int
}

// encoders round a matrix whose rows have so many numbers.
var encoders = map[string]func(x []float32, row int) (Encoded, error){
	"int4":       func(x []float32, row int) (Encoded, error) { return quant.ToINT4(x, row, false) },
	"int4-zeros": func(x []float32, row int) (Encoded, error) { return quant.ToINT4(x, row, true) },
	"nf4":        func(x []float32, _ int) (Encoded, error) { return quant.ToNF4(x, false) },
	"nf4-double": func(x []float32, _ int) (Encoded, error) { return quant.ToNF4(x, true) },
	"mxfp4":      func(x []float32, row int) (Encoded, error) { return quant.ToMXFP4(x, row) },
	"nvfp4":      func(x []float32, row int) (Encoded, error) { return quant.ToNVFP4(x, row) },
}

// Formats are what Encode knows: those that need nothing but the matrix.
func Formats() []string { return slices.Sorted(maps.Keys(encoders)) }

// Encode makes a matrix of a layer in a format.
func Encode(format string, x []float32, row int) (Encoded, error) {
	encode := encoders[format]
	if encode == nil {
		return nil, unknown(format)
	}
	return encode(x, row)
}

func unknown(format string) error {
	return fmt.Errorf("there is no format %q of weights; there is %s", format, strings.Join(Formats(), ", "))
}

// kept are weights whose layers' matrices are read back from a format.
type kept struct {
	Weights
	format   string
	matrices map[string]bool

	mu   sync.Mutex
	name string    // of the matrix that was read last
	last []float32 // its numbers: it is mostly read piece by piece
}

// Kept are the weights as they are after the matrices of all layers were kept in a format.
func Kept(w Weights, format string) (Weights, error) {
	if encoders[format] == nil {
		return nil, unknown(format)
	}
	k := &kept{Weights: w, format: format, matrices: map[string]bool{}}
	for _, t := range w.Config().InLayers() {
		k.matrices[t.Name] = true
	}
	return k, nil
}

// About says what they are, and what they were rounded to.
func (k *kept) About() string { return k.Weights.About() + "; the layers' matrices in " + k.format }

// Read reads back what the format keeps.
func (k *kept) Read(t Tensor, from int, into []float32) error {
	if !k.matrices[t.Name] {
		return k.Weights.Read(t, from, into)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.name != t.Name {
		x, err := Whole(k.Weights, t)
		if err != nil {
			return err
		}
		e, err := Encode(k.format, x, t.Shape[1])
		if err != nil {
			return fmt.Errorf("the weight %s in %s: %w", t.Name, k.format, err)
		}
		k.name, k.last = t.Name, e.Numbers()
	}
	copy(into, k.last[from:from+len(into)])
	return nil
}
