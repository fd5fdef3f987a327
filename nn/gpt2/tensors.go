package gpt2

import (
	"fmt"

	"flashlab/tensor"
)

// Tensor is one of a model's weights.
type Tensor struct {
	Name  string // as Hugging Face calls it, without "transformer.": "h.0.attn.c_attn.weight"
	Shape []int  // as it is read: a matrix is [out, in]
	// Stored says that files hold it the other way round, [in, out].
	Stored bool
}

// Elements is the number of values.
func (t Tensor) Elements() int { return tensor.Elements(t.Shape) }

// InFile is the shape that files give it.
func (t Tensor) InFile() []int {
	if t.Stored {
		return []int{t.Shape[1], t.Shape[0]}
	}
	return t.Shape
}

// Names of the weights outside the layers.
const (
	TokenTable    = "wte.weight" // [Vocabulary, Width]; the LM head too
	PositionTable = "wpe.weight" // [Positions, Width]
	FinalGain     = "ln_f.weight"
	FinalBias     = "ln_f.bias"
)

// Names of a layer's weights, behind "h.0.".
const (
	Gain1       = "ln_1.weight"
	Bias1       = "ln_1.bias"
	QKVWeight   = "attn.c_attn.weight" // [3 × Width, Width]: the rows of q, then of k, then of v
	QKVBias     = "attn.c_attn.bias"
	OutWeight   = "attn.c_proj.weight" // [Width, Width]
	OutBias     = "attn.c_proj.bias"
	Gain2       = "ln_2.weight"
	Bias2       = "ln_2.bias"
	UpWeight    = "mlp.c_fc.weight" // [Inner, Width]
	UpBias      = "mlp.c_fc.bias"
	DownWeight  = "mlp.c_proj.weight" // [Width, Inner]
	DownBias    = "mlp.c_proj.bias"
	layerPrefix = "h.%d."
)

// InLayer is the whole name of a layer's weight.
func InLayer(layer int, name string) string { return fmt.Sprintf(layerPrefix, layer) + name }

// Tensors lists a model's weights.
func (c Config) Tensors() []Tensor {
	list := []Tensor{
		{Name: TokenTable, Shape: []int{c.Vocabulary, c.Width}},
		{Name: PositionTable, Shape: []int{c.Positions, c.Width}},
	}
	for layer := range c.Layers {
		add := func(name string, stored bool, shape ...int) {
			list = append(list, Tensor{Name: InLayer(layer, name), Shape: shape, Stored: stored})
		}
		add(Gain1, false, c.Width)
		add(Bias1, false, c.Width)
		add(QKVWeight, true, 3*c.Width, c.Width)
		add(QKVBias, false, 3*c.Width)
		add(OutWeight, true, c.Width, c.Width)
		add(OutBias, false, c.Width)
		add(Gain2, false, c.Width)
		add(Bias2, false, c.Width)
		add(UpWeight, true, c.Inner, c.Width)
		add(UpBias, false, c.Inner)
		add(DownWeight, true, c.Width, c.Inner)
		add(DownBias, false, c.Width)
	}
	return append(list, Tensor{Name: FinalGain, Shape: []int{c.Width}}, Tensor{Name: FinalBias, Shape: []int{c.Width}})
}

// Weights is where a model's weights come from. Reading one at a time, a model
// larger than half the machine's memory can still be put on a device.
type Weights interface {
	Config() Config
	// About says in a few words what they are, for people.
	About() string
	// Read returns the values of one weight, row-major, matrices as [out, in].
	Read(t Tensor) ([]float32, error)
}

// transposed turns [rows, cols] into [cols, rows], in squares that stay in a
// processor's cache: GPT-2 XL has 1.5 billion of these numbers.
func transposed(x []float32, rows, cols int) []float32 {
	const side = 32
	y := make([]float32, len(x))
	for top := 0; top < rows; top += side {
		for left := 0; left < cols; left += side {
			for i := top; i < min(top+side, rows); i++ {
				for j := left; j < min(left+side, cols); j++ {
					y[j*rows+i] = x[i*cols+j]
				}
			}
		}
	}
	return y
}
