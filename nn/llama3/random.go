package llama3

import (
	"fmt"
	"hash/fnv"
	"math"
	"strings"

	"flashlab/tensor"
)

// Random is a model that was never trained: the same seed, the same weights,
// bit for bit.
func Random(c Config, seed uint64) (Weights, error) {
	return random{c, seed}, c.Check()
}

type random struct {
	config Config
	seed   uint64
}

func (r random) Config() Config { return r.config }

func (r random) About() string { return "a random model: no weights were given, so expect no words" }

// Read makes the values from the weight's own stream, wherever it starts.
func (r random) Read(t Tensor, from int, into []float32) error {
	if n := t.Elements(); from < 0 || from > n-len(into) {
		return fmt.Errorf("the weight %s: values %d to %d of %d", t.Name, from, from+len(into), n)
	}
	stream, scale, shift := t.Random()
	return inParts(len(into), func(a, b int) error {
		if err := tensor.Fill(into[a:b], tensor.Normal, r.seed, stream, from+a); err != nil {
			return err
		}
		for i := a; i < b; i++ {
			into[i] = into[i]*scale + shift
		}
		return nil
	})
}

// Random says what a random model's weight is made of: normal numbers of a stream, times
// scale, plus shift. A sum of n products of numbers near 1 and weights near 1/√n is near 1
// again, so that every part of a layer matters to what comes out.
func (t Tensor) Random() (stream uint32, scale, shift float32) {
	h := fnv.New32a()
	h.Write([]byte(t.Name))
	scale = 0.1 // biases
	switch {
	case len(t.Shape) == 2: // of the tables logits are made, which are sums over the width too
		scale = float32(1 / math.Sqrt(float64(t.Shape[1])))
	case strings.HasSuffix(t.Name, Weight): // a norm's gains
		shift = 1
	}
	return h.Sum32(), scale, shift
}
