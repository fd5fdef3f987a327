package gpt2

import (
	"errors"
	"hash/fnv"
	"math"
	"strings"
	"sync"

	"flashlab/tensor"
)

// Random is a model that was never trained: the same seed, the same weights,
// bit for bit. They are of such sizes that every part of a layer matters to
// what comes out.
func Random(c Config, seed uint64) (Weights, error) {
	return random{c, seed}, c.Check()
}

type random struct {
	config Config
	seed   uint64
}

func (r random) Config() Config { return r.config }

func (r random) About() string { return "a random model: no weights were given, so expect no words" }

// Read makes each weight from its own stream. A sum of n products of numbers near
// 1 and weights near 1/√n is near 1 again.
func (r random) Read(t Tensor) ([]float32, error) {
	x := make([]float32, t.Elements())
	stream, scale, shift := t.Random()
	var all sync.WaitGroup
	errs := make([]error, (len(x)+piece-1)/piece)
	for n := range errs {
		all.Go(func() {
			from := n * piece
			part := x[from:min(from+piece, len(x))]
			errs[n] = tensor.Fill(part, tensor.Normal, r.seed, stream, from)
			for i := range part {
				part[i] = part[i]*scale + shift
			}
		})
	}
	all.Wait()
	return x, errors.Join(errs...)
}

// Random says what a random model's weight is made of: normal numbers of a stream, times
// scale, plus shift.
func (t Tensor) Random() (stream uint32, scale, shift float32) {
	h := fnv.New32a()
	h.Write([]byte(t.Name))
	scale = 0.1 // biases
	switch {
	case strings.Contains(t.Name, "ln_") && strings.HasSuffix(t.Name, ".weight"):
		shift = 1
	case len(t.Shape) == 2: // of the tables logits are made, which are sums over the width too
		scale = float32(1 / math.Sqrt(float64(t.Shape[1])))
	}
	return h.Sum32(), scale, shift
}

// piece is how many numbers one goroutine makes.
const piece = 1 << 18
