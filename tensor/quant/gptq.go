package quant

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// damping is added to the Hessian's diagonal, in parts of its mean. Inputs that depend on each other, or
// fewer tokens than inputs, would leave it singular.
const damping = 0.01

// GPTQ rounds a matrix w [N, K] into the format of ToINT4, for products with inputs such as x [tokens, K]
// (Frantar et al. 2022, https://arxiv.org/abs/2210.17323). A row's columns are rounded in order, each to the
// nearest. What a column is off by goes into the columns behind it, such that the row's products with x
// change least. A group's scale and zero are found when its first column comes, of the weights as they are
// by then. An input that is always 0 has nothing to tell the others: its weights are rounded by themselves.
func GPTQ(w []float32, row int, x []float32, asymmetric bool) (INT4, error) {
	if err := errors.Join(whole(w, row), finite(w)); err != nil {
		return INT4{}, err
	}
	if err := errors.Join(whole(x, row), finite(x)); err != nil {
		return INT4{}, fmt.Errorf("inputs: %w", err)
	}
	if len(x) == 0 {
		return INT4{}, errors.New("inputs: there are none, and GPTQ rounds for those that it is shown")
	}
	u, err := factor(hessian(x, row))
	if err != nil {
		return INT4{}, err
	}
	return inOrder(w, row, u, asymmetric)
}

// hessian is 2·xᵀ·x [row, row]. A row w of weights that becomes q loses (w − q)·H·(w − q)ᵀ / 2, which is the
// square of what its products are off by.
func hessian(x []float32, row int) *mat.SymDense {
	h := mat.NewSymDense(row, nil)
	const tokens = 512 // so many at a time, as float64
	for from := 0; from < len(x); from += tokens * row {
		some := x[from:min(from+tokens*row, len(x))]
		inputs := mat.NewDense(row, len(some)/row, nil) // [row, tokens]: sums run along neighbours
		for i, v := range some {
			inputs.Set(i%row, i/row, float64(v))
		}
		h.SymRankK(h, 2, inputs)
	}
	return h
}

// factor is U, upper triangular, with Uᵀ·U = H⁻¹: row i says, after columns 0 … i − 1 have been rounded, how
// the columns from i on make good for column i.
func factor(h *mat.SymDense) (*mat.TriDense, error) {
	row := h.SymmetricDim()
	damp := damping * h.Trace() / float64(row)
	if damp == 0 {
		damp = 1 // nothing ever came in: any diagonal will do
	}
	for i := range row {
		h.SetSym(i, i, h.At(i, i)+damp)
	}
	var inverse mat.SymDense
	var c mat.Cholesky
	var u mat.TriDense
	ok := c.Factorize(h)
	if ok {
		// A matrix that is badly conditioned is an error to gonum, and still inverted.
		if err := c.InverseTo(&inverse); err != nil && !errors.As(err, new(mat.Condition)) {
			return nil, err
		}
		ok = c.Factorize(&inverse)
	}
	if !ok {
		return nil, errors.New("inputs: their Hessian has no Cholesky factor: are they of very different sizes?")
	}
	c.UTo(&u)
	return &u, nil
}

// inOrder rounds w [N, row], column by column.
func inOrder(w []float32, row int, u *mat.TriDense, asymmetric bool) (INT4, error) {
	m := emptyINT4(len(w), row)
	raw := u.RawTriangular()
	rest := make([]float64, row) // of one row of w: columns as they are by now
	group := make([]float32, INT4Group)
	blocks(len(w), row, INT4Group, func(b, from, to int) {
		first := from % row
		if first == 0 {
			for i, v := range w[from : from+row] {
				rest[i] = float64(v)
			}
		}
		for i := range to - from {
			group[i] = float32(rest[first+i])
		}
		scale, zero := m.begin(b, group[:to-from], asymmetric)
		if math.IsInf(float64(scale), 0) {
			return // check will say so
		}
		for i := from; i < to; i++ {
			column := i % row
			code := nearestCode(float32(rest[column]), scale, zero)
			lowFirst.put(m.Codes, i, code)
			factors := raw.Data[column*raw.Stride+column : column*raw.Stride+row]
			off := (rest[column] - float64(code-zero)*float64(scale)) / factors[0]
			floats.AddScaled(rest[column+1:], -off, factors[1:])
		}
	})
	return m, m.check()
}
