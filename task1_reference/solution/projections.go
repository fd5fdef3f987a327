package reference

import (
	"fmt"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"flashlab/tensor"
)

// MultiHead is attention as models hold it: your Attention between four linear
// maps, whose weights [hidden, hidden] a model learns.
type MultiHead struct {
	Heads          int
	Causal         bool
	WQ, WK, WV, WO *tensor.Tensor
}

// RandomMultiHead makes a layer as it is before any training. The weights are
// small enough that outputs stay about as large as inputs.
func RandomMultiHead(hidden, heads int, causal bool, seed uint64) (*MultiHead, error) {
	m := &MultiHead{Heads: heads, Causal: causal}
	for stream, w := range []**tensor.Tensor{&m.WQ, &m.WK, &m.WV, &m.WO} {
		t, err := tensor.Random(tensor.Normal, seed, uint32(stream), hidden, hidden)
		if err != nil {
			return nil, err
		}
		for i := range t.Data {
			t.Data[i] /= float32(hidden)
		}
		*w = t
	}
	return m, nil
}

// SelfAttention lets the positions of x [batch, seq, hidden] look at each
// other: queries, keys and values are all made from x.
func (m *MultiHead) SelfAttention(x *tensor.Tensor) (*tensor.Tensor, error) {
	var projected [3]*tensor.Tensor
	for i, w := range []*tensor.Tensor{m.WQ, m.WK, m.WV} {
		p, err := Project(x, w)
		if err != nil {
			return nil, err
		}
		projected[i] = p
	}
	y, err := Attention(projected[0], projected[1], projected[2], m.Heads, m.Causal)
	if err != nil {
		return nil, err
	}
	return Project(y, m.WO)
}

// Project multiplies x [batch, seq, in] by w [in, out], giving [batch, seq, out].
// One matrix product does it, for all positions of all sequences lie one below
// the other.
func Project(x, w *tensor.Tensor) (*tensor.Tensor, error) {
	if len(x.Shape) != 3 || len(w.Shape) != 2 || x.Shape[2] != w.Shape[0] {
		return nil, fmt.Errorf("project x %s by w %s: want [batch, seq, in] and [in, out]",
			tensor.ShapeString(x.Shape), tensor.ShapeString(w.Shape))
	}
	rows, in, out := x.Shape[0]*x.Shape[1], w.Shape[0], w.Shape[1]
	y := tensor.New(x.Shape[0], x.Shape[1], out)
	blas32.Gemm(blas.NoTrans, blas.NoTrans,
		1, blas32.General{Rows: rows, Cols: in, Stride: in, Data: x.Data},
		blas32.General{Rows: in, Cols: out, Stride: out, Data: w.Data},
		0, blas32.General{Rows: rows, Cols: out, Stride: out, Data: y.Data})
	return y, nil
}
