package llama3

import (
	"math"
	"slices"
	"sync"

	"flashlab/nn/lm"
	"flashlab/tensor"
	"flashlab/tensor/quant"
)

// Reference is the model in plain Go, with which others are compared. It holds all
// weights in float32; activations are float32, too, and sums that others depend on float64.
type Reference struct {
	config  Config
	weights map[string][]float32
	turns   []float64   // RoPE's frequencies
	keys    [][]float32 // by layer, [tokens so far, KVHeads × Dim], turned
	values  [][]float32
	logits  []float32

	cache string // what keys and values are read back from: one of quant.Caches; "" for float32
	// see, unless nil, is told the inputs x [rows, in] of each product with a layer's matrix, by its whole name. It may
	// replace the matrix: the product is of that.
	see func(name string, x []float32) error
}

var _ lm.LM = (*Reference)(nil)

// NewReference reads all weights.
func NewReference(w Weights) (*Reference, error) {
	r := &Reference{config: w.Config(), weights: map[string][]float32{}}
	if err := r.config.Check(); err != nil {
		return nil, err
	}
	for _, t := range r.config.Tensors() {
		values, err := Whole(w, t)
		if err != nil {
			return nil, err
		}
		r.weights[t.Name] = values
	}
	r.turns = r.config.Frequencies()
	r.Reset()
	return r, nil
}

// Config is the model's shape.
func (r *Reference) Config() Config { return r.config }

// Positions is the longest text.
func (r *Reference) Positions() int { return r.config.Positions }

// Room is how many more tokens the text may have.
func (r *Reference) Room() int {
	return r.config.Positions - len(r.keys[0])/(r.config.KVHeads*r.config.Dim)
}

// Reset forgets the text.
func (r *Reference) Reset() {
	r.keys, r.values = make([][]float32, r.config.Layers), make([][]float32, r.config.Layers)
}

// Prefill starts a text with a prompt.
func (r *Reference) Prefill(prompt []int32) error { return r.Each(prompt, nil) }

// Each does what Prefill does, and calls f for each position with its logits.
func (r *Reference) Each(text []int32, f func(position int, logits []float32) error) error {
	r.Reset()
	return r.feed(text, f)
}

// Step advances by one token.
func (r *Reference) Step(token int32) error {
	if r.Room() < 1 {
		return lm.ErrFull
	}
	return r.feed([]int32{token}, nil)
}

// Logits are those of the token that comes next.
func (r *Reference) Logits() ([]float32, error) { return r.logits, nil }

// Greedy is the token with the largest logit, the first one if there is a tie.
func (r *Reference) Greedy() (int32, error) { return lm.Best(r.logits) }

func (r *Reference) feed(tokens []int32, f func(int, []float32) error) error {
	c := r.config
	if err := lm.CheckText(tokens, c.Positions, c.Vocabulary); err != nil {
		return err
	}
	x := r.embed(tokens)
	for layer := range c.Layers {
		if err := r.layer(layer, x, nil); err != nil {
			return err
		}
	}
	first := len(tokens) - 1 // only the last row is wanted
	if f != nil {
		first = 0
	}
	const some = 32 // rows of logits at a time: those of a long text would fill the memory
	for from := first; from < len(tokens); from += some {
		to := min(from+some, len(tokens))
		logits := linear(r.norm(x[from*c.Width:to*c.Width], FinalGain), r.weights[c.HeadTable()], nil, c.Width, c.Vocabulary)
		for i := from; i < to; i++ {
			r.logits = logits[(i-from)*c.Vocabulary : (i-from+1)*c.Vocabulary]
			if f != nil {
				if err := f(i, r.logits); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// embed are the tokens' rows of the table.
func (r *Reference) embed(tokens []int32) []float32 {
	x := make([]float32, 0, len(tokens)*r.config.Width)
	for _, token := range tokens {
		x = append(x, r.weights[TokenTable][int(token)*r.config.Width:][:r.config.Width]...)
	}
	return x
}

// layer adds the layer's attention, then its MLP, to x [rows, Width]. The rows go on from the text so far; or they are
// pieces of so many rows, each a text of its own, of which nothing is kept.
func (r *Reference) layer(i int, x []float32, pieces []int) error {
	c := r.config
	var failed error
	apply := func(name string, x []float32, in, out int) []float32 {
		if r.see != nil && failed == nil {
			failed = r.see(InLayer(i, name+Weight), x)
		}
		return linear(x, r.weights[InLayer(i, name+Weight)], r.weights[InLayer(i, name+Bias)], in, out)
	}
	y := r.norm(x, InLayer(i, Gain1))
	q, k, v := apply(Q, y, c.Width, c.Heads*c.Dim), apply(K, y, c.Width, c.KVHeads*c.Dim), apply(V, y, c.Width, c.KVHeads*c.Dim)
	add(x, apply(O, r.mix(i, q, k, v, pieces), c.Heads*c.Dim, c.Width))

	y = r.norm(x, InLayer(i, Gain2))
	inner, up := apply(Gate, y, c.Width, c.Inner), apply(Up, y, c.Width, c.Inner)
	for j, v := range inner {
		inner[j] = float32(float64(v)/(1+math.Exp(-float64(v)))) * up[j]
	}
	add(x, apply(Down, inner, c.Inner, c.Width))
	return failed
}

// mix is a layer's attention, of rows that go on from the text so far, or of pieces.
func (r *Reference) mix(i int, q, k, v []float32, pieces []int) []float32 {
	wide, narrow := r.config.Heads*r.config.Dim, r.config.KVHeads*r.config.Dim
	one := func(q, k, v, keys, values []float32) []float32 {
		before := len(keys) / narrow
		r.turn(q, r.config.Heads, before)
		r.turn(k, r.config.KVHeads, before)
		keys, values = append(keys, k...), append(values, v...)
		if pieces == nil {
			r.keys[i], r.values[i] = keys, values
		}
		return r.attend(q, keys, values, before)
	}
	if pieces == nil {
		return one(q, k, v, r.keys[i], r.values[i])
	}
	var out []float32
	for _, n := range pieces {
		out = append(out, one(q[:n*wide], k[:n*narrow], v[:n*narrow], nil, nil)...)
		q, k, v = q[n*wide:], k[n*narrow:], v[n*narrow:]
	}
	return out
}

// turn is RoPE, on x [rows, heads × Dim], the first row at a position: the pair j and
// j + Dim/2 of each head is turned by position × frequency j.
func (r *Reference) turn(x []float32, heads, position int) {
	dim := r.config.Dim
	half := dim / 2
	for from := 0; from < len(x); from += dim {
		at := float64(position + from/(heads*dim))
		for j, frequency := range r.turns {
			sin, cos := math.Sincos(at * frequency)
			a, b := float64(x[from+j]), float64(x[from+j+half])
			x[from+j], x[from+j+half] = float32(a*cos-b*sin), float32(b*cos+a*sin)
		}
	}
}

// attend is causal attention of q [rows, Heads × Dim], the first row at position before, to keys
// and values [tokens, KVHeads × Dim]. Heads that follow each other share keys and values.
func (r *Reference) attend(q, keys, values []float32, before int) []float32 {
	c := r.config
	out := make([]float32, len(q))
	closedKeys, openKeys := r.kept(keys, true)
	closedValues, openValues := r.kept(values, false)
	var all sync.WaitGroup
	for h := range c.Heads {
		all.Go(func() {
			stride, shared := c.KVHeads*c.Dim, h/(c.Heads/c.KVHeads)*c.Dim
			weights, sums := make([]float64, len(keys)/stride), make([]float64, c.Dim)
			for row := range len(q) / (c.Heads * c.Dim) {
				at, length := (row*c.Heads+h)*c.Dim, before+row+1
				closed := quant.Closed(r.cache, length)
				for j := range length {
					from := openKeys
					if j < closed {
						from = closedKeys
					}
					weights[j] = dot(q[at:at+c.Dim], from[j*stride+shared:]) / math.Sqrt(float64(c.Dim))
				}
				softmax(weights[:length])
				clear(sums)
				for j, w := range weights[:length] {
					from := openValues
					if j < closed {
						from = closedValues
					}
					for d, v := range from[j*stride+shared:][:c.Dim] {
						sums[d] += w * float64(v)
					}
				}
				for d, sum := range sums {
					out[at+d] = float32(sum)
				}
			}
		})
	}
	all.Wait()
	return out
}

// kept are keys or values [tokens, KVHeads × Dim] as the cache reads them back: those that it has quantised, and the same
// in halves for those that it has not quantised yet.
func (r *Reference) kept(x []float32, keys bool) (closed, open []float32) {
	if r.cache == "" {
		return x, x
	}
	dim, stride := r.config.Dim, r.config.KVHeads*r.config.Dim
	open = slices.Clone(x)
	tensor.Float16.Round(open)
	closed = make([]float32, len(x))
	for head := 0; head < stride; head += dim {
		var one []float32
		for at := head; at < len(x); at += stride {
			one = append(one, open[at:at+dim]...)
		}
		one = quant.Kept(r.cache, one, dim, keys)
		for t := range len(x) / stride {
			copy(closed[t*stride+head:][:dim], one[t*dim:])
		}
	}
	return closed, open
}
