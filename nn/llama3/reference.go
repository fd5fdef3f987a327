package llama3

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"flashlab/nn/lm"
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
	x := make([]float32, 0, len(tokens)*c.Width)
	for _, token := range tokens {
		x = append(x, r.weights[TokenTable][int(token)*c.Width:][:c.Width]...)
	}
	for layer := range c.Layers {
		r.layer(layer, x)
	}
	first := len(tokens) - 1 // only the last row is wanted
	if f != nil {
		first = 0
	}
	for i := first; i < len(tokens); i++ {
		row := r.norm(x[i*c.Width:(i+1)*c.Width], FinalGain)
		r.logits = linear(row, r.weights[c.HeadTable()], nil, c.Width, c.Vocabulary)
		if f != nil {
			if err := f(i, r.logits); err != nil {
				return err
			}
		}
	}
	return nil
}

// layer adds the layer's attention, then its MLP, to x [rows, Width].
func (r *Reference) layer(i int, x []float32) {
	c := r.config
	apply := func(name string, x []float32, in, out int) []float32 {
		return linear(x, r.weights[InLayer(i, name+Weight)], r.weights[InLayer(i, name+Bias)], in, out)
	}
	before := len(r.keys[i]) / (c.KVHeads * c.Dim)
	y := r.norm(x, InLayer(i, Gain1))
	q, k := apply(Q, y, c.Width, c.Heads*c.Dim), apply(K, y, c.Width, c.KVHeads*c.Dim)
	r.turn(q, c.Heads, before)
	r.turn(k, c.KVHeads, before)
	r.keys[i], r.values[i] = append(r.keys[i], k...), append(r.values[i], apply(V, y, c.Width, c.KVHeads*c.Dim)...)
	add(x, apply(O, r.attend(q, r.keys[i], r.values[i], before), c.Heads*c.Dim, c.Width))

	y = r.norm(x, InLayer(i, Gain2))
	inner, up := apply(Gate, y, c.Width, c.Inner), apply(Up, y, c.Width, c.Inner)
	for j, v := range inner {
		inner[j] = float32(float64(v)/(1+math.Exp(-float64(v)))) * up[j]
	}
	add(x, apply(Down, inner, c.Inner, c.Width))
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
	stride := c.KVHeads * c.Dim
	for row := range len(q) / (c.Heads * c.Dim) {
		for h := range c.Heads {
			at, shared := (row*c.Heads+h)*c.Dim, h/(c.Heads/c.KVHeads)*c.Dim
			weights := make([]float64, before+row+1)
			for j := range weights {
				weights[j] = dot(q[at:at+c.Dim], keys[j*stride+shared:]) / math.Sqrt(float64(c.Dim))
			}
			softmax(weights)
			for d := range c.Dim {
				var sum float64
				for j, w := range weights {
					sum += w * float64(values[j*stride+shared+d])
				}
				out[at+d] = float32(sum)
			}
		}
	}
	return out
}

func dot(x, y []float32) (sum float64) {
	for i, v := range x {
		sum += float64(v) * float64(y[i])
	}
	return sum
}

func softmax(x []float64) {
	largest := math.Inf(-1)
	for _, v := range x {
		largest = max(largest, v)
	}
	var sum float64
	for i, v := range x {
		x[i] = math.Exp(v - largest)
		sum += x[i]
	}
	for i := range x {
		x[i] /= sum
	}
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

// norm is a new copy of x, each row divided by its root mean square, times gain.
func (r *Reference) norm(x []float32, gain string) []float32 {
	width := r.config.Width
	g := r.weights[gain]
	y := make([]float32, len(x))
	for from := 0; from < len(x); from += width {
		row := x[from : from+width]
		scale := 1 / math.Sqrt(dot(row, row)/float64(width)+r.config.Epsilon)
		for j, v := range row {
			y[from+j] = float32(float64(v)*scale) * g[j]
		}
	}
	return y
}

func add(x, y []float32) {
	for i, v := range y {
		x[i] += v
	}
}
