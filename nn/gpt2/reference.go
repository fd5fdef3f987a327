package gpt2

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"flashlab/nn/lm"
	"flashlab/tensor"
)

// Attend is attention in plain Go, as task 1 writes it: q [batch, seqQ, hidden]
// against k and v [batch, seqK, hidden], in so many heads.
type Attend func(q, k, v *tensor.Tensor, heads int, causal bool) (*tensor.Tensor, error)

// Reference is the same model in plain Go, with which others are compared.
type Reference struct {
	config  Config
	weights map[string][]float32
	attend  Attend
	keys    [][]float32 // by layer, [tokens so far, Width]
	values  [][]float32
	logits  []float32
	// before, unless nil, is told the inputs x [rows, in] of each product with a layer's matrix, by its whole
	// name. It may put another matrix into weights: the product is of that.
	before func(name string, x []float32) error
}

// NewReference reads all weights. Without an Attend it brings its own.
func NewReference(w Weights, attend Attend) (*Reference, error) {
	r := &Reference{config: w.Config(), weights: map[string][]float32{}, attend: attend}
	if attend == nil {
		r.attend = PlainAttend
	}
	if err := r.config.Check(); err != nil {
		return nil, err
	}
	for _, t := range r.config.Tensors() {
		values, err := w.Read(t)
		if err != nil {
			return nil, err
		}
		r.weights[t.Name] = values
	}
	return r, r.Reset()
}

// Config is the model's shape.
func (r *Reference) Config() Config { return r.config }

// Positions is the longest text.
func (r *Reference) Positions() int { return r.config.Positions }

// Room is how many more tokens the text may have.
func (r *Reference) Room() int { return r.config.Positions - len(r.keys[0])/r.config.Width }

// Reset forgets the text.
func (r *Reference) Reset() error {
	r.keys, r.values = make([][]float32, r.config.Layers), make([][]float32, r.config.Layers)
	return nil
}

// Prefill starts a text with a prompt.
func (r *Reference) Prefill(prompt []int32) error { return r.Each(prompt, nil) }

// Each does what Prefill does, and calls f for each position with its logits.
func (r *Reference) Each(text []int32, f func(position int, logits []float32) error) error {
	if err := r.Reset(); err != nil {
		return err
	}
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
	if err := c.checkText(tokens); err != nil {
		return err
	}
	x, table := r.embed(tokens, c.Positions-r.Room()), r.weights[TokenTable]
	for layer := range c.Layers {
		if err := r.layer(layer, x); err != nil {
			return fmt.Errorf("layer %d: %w", layer, err)
		}
	}
	first := len(tokens) - 1 // only the last row is wanted
	if f != nil {
		first = 0
	}
	for i := first; i < len(tokens); i++ {
		row := r.norm(x[i*c.Width:(i+1)*c.Width], FinalGain, FinalBias)
		r.logits = linear(row, table, nil, c.Width, c.Vocabulary)
		if f != nil {
			if err := f(i, r.logits); err != nil {
				return err
			}
		}
	}
	return nil
}

// embed is [tokens, Width]: each token's row and its position's, the first of which is given. A text that is longer
// than the model has positions begins anew.
func (r *Reference) embed(tokens []int32, first int) []float32 {
	c := r.config
	x := make([]float32, len(tokens)*c.Width)
	table, positions := r.weights[TokenTable], r.weights[PositionTable]
	for i, token := range tokens {
		at := (first + i) % c.Positions
		for j := range c.Width {
			x[i*c.Width+j] = table[int(token)*c.Width+j] + positions[at*c.Width+j]
		}
	}
	return x
}

// layer adds the layer's attention, then its MLP, to x [rows, Width].
func (r *Reference) layer(i int, x []float32) error {
	c := r.config
	in := func(name string) []float32 { return r.weights[InLayer(i, name)] }
	observe := func(name string, x []float32) error {
		if r.before == nil {
			return nil
		}
		return r.before(InLayer(i, name), x)
	}
	y := r.norm(x, InLayer(i, Gain1), InLayer(i, Bias1))
	if err := observe(QKVWeight, y); err != nil {
		return err
	}
	var parts [3][]float32 // q, k, v
	for n := range parts {
		w, b := in(QKVWeight)[n*c.Width*c.Width:], in(QKVBias)[n*c.Width:]
		parts[n] = linear(y, w[:c.Width*c.Width], b[:c.Width], c.Width, c.Width)
	}
	r.keys[i], r.values[i] = append(r.keys[i], parts[1]...), append(r.values[i], parts[2]...)
	// Causal: the last query is aligned with the last key.
	mixed, err := r.attend(rows(parts[0], c.Width), rows(r.keys[i], c.Width), rows(r.values[i], c.Width), c.Heads, true)
	if err != nil {
		return err
	}
	if err := observe(OutWeight, mixed.Data); err != nil {
		return err
	}
	add(x, linear(mixed.Data, in(OutWeight), in(OutBias), c.Width, c.Width))
	y = r.norm(x, InLayer(i, Gain2), InLayer(i, Bias2))
	if err := observe(UpWeight, y); err != nil {
		return err
	}
	y = linear(y, in(UpWeight), in(UpBias), c.Width, c.Inner)
	for j, v := range y {
		y[j] = gelu(v)
	}
	if err := observe(DownWeight, y); err != nil {
		return err
	}
	add(x, linear(y, in(DownWeight), in(DownBias), c.Inner, c.Width))
	return nil
}

// rows is x as a batch of one, [1, rows, width].
func rows(x []float32, width int) *tensor.Tensor {
	return &tensor.Tensor{Shape: []int{1, len(x) / width, width}, Data: x}
}

// linear is x [rows, in] · wᵀ + b, where w is [width, in]; b may be nil.
func linear(x, w, b []float32, in, width int) []float32 {
	n := len(x) / in
	y := make([]float32, n*width)
	for i := range n {
		copy(y[i*width:], b)
	}
	blas32.Gemm(blas.NoTrans, blas.Trans, 1, blas32.General{Rows: n, Cols: in, Stride: in, Data: x},
		blas32.General{Rows: width, Cols: in, Stride: in, Data: w}, 1, blas32.General{Rows: n, Cols: width, Stride: width, Data: y})
	return y
}

// norm is a new copy of x, each row with mean 0 and variance 1, times gain plus
// bias. The sums are in float64, because everything that follows depends on them.
func (r *Reference) norm(x []float32, gain, bias string) []float32 {
	width := r.config.Width
	g, b := r.weights[gain], r.weights[bias]
	y := make([]float32, len(x))
	for from := 0; from < len(x); from += width {
		var sum, square float64
		for _, v := range x[from : from+width] {
			sum += float64(v)
		}
		mean := sum / float64(width)
		for _, v := range x[from : from+width] {
			square += (float64(v) - mean) * (float64(v) - mean)
		}
		scale := 1 / math.Sqrt(square/float64(width)+r.config.Epsilon)
		for j, v := range x[from : from+width] {
			y[from+j] = float32((float64(v)-mean)*scale)*g[j] + b[j]
		}
	}
	return y
}

// gelu is GPT-2's own form of it, by tanh.
func gelu(x float32) float32 {
	v := float64(x)
	return float32(v / 2 * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(v+0.044715*v*v*v))))
}

func add(x, y []float32) {
	for i, v := range y {
		x[i] += v
	}
}
