package quant

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/blas/gonum"
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
	s, err := Show(x, row)
	if err != nil {
		return INT4{}, err
	}
	return s.GPTQ(w, asymmetric)
}

// Shown is what GPTQ takes from inputs. Matrices that have the same inputs share it: it takes longer than their rounding.
type Shown struct {
	row int
	u   *mat.TriDense
}

// Show looks at inputs x [tokens, row].
func Show(x []float32, row int) (Shown, error) {
	if err := errors.Join(whole(x, row), finite(x)); err != nil {
		return Shown{}, fmt.Errorf("inputs: %w", err)
	}
	if len(x) == 0 {
		return Shown{}, errors.New("inputs: there are none, and GPTQ rounds for those that it is shown")
	}
	u, err := factor(hessian(x, row))
	return Shown{row, u}, err
}

// GPTQ rounds a matrix w [N, row] for them.
func (s Shown) GPTQ(w []float32, asymmetric bool) (INT4, error) {
	if err := errors.Join(whole(w, s.row), finite(w)); err != nil {
		return INT4{}, err
	}
	return inOrder(w, s.row, s.u, asymmetric)
}

// hessian is 2·xᵀ·x [row, row]. A row w of weights that becomes q loses (w − q)·H·(w − q)ᵀ / 2, which is the
// square of what its products are off by.
func hessian(x []float32, row int) *mat.SymDense {
	h := mat.NewSymDense(row, nil)
	upper := h.RawSymmetric()
	const tokens = 512 // so many at a time, as float64
	for from := 0; from < len(x); from += tokens * row {
		some := x[from:min(from+tokens*row, len(x))]
		n := len(some) / row
		inputs := make([]float64, len(some)) // [row, tokens]: sums run along neighbours
		for i, v := range some {
			inputs[i%row*n+i/row] = float64(v)
		}
		// gonum's SymRankK does the same sums, on one processor, and reads all inputs for each row of h.
		const few = 8 // rows of h, whose inputs stay in the cache
		shared((row+few-1)/few, func(part int) {
			var g gonum.Implementation
			for j := part * few; j < row; j++ {
				for i := part * few; i <= min(j, part*few+few-1); i++ {
					upper.Data[i*upper.Stride+j] += 2 * g.Ddot(n, inputs[i*n:], 1, inputs[j*n:], 1)
				}
			}
		})
	}
	return h
}

// shared has all processors work on 0 … n − 1, each on the next that nobody has begun.
func shared(n int, each func(i int)) {
	var all sync.WaitGroup
	var next atomic.Int64
	for range min(n, runtime.GOMAXPROCS(0)) {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				each(i)
			}
		})
	}
	all.Wait()
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
	const some = 16 // rows at a time: an even number, for two codes share a byte
	shared((len(w)+some*row-1)/(some*row), func(part int) {
		rest := make([]float64, row) // of one row of w: columns as they are by now
		group := make([]float32, INT4Group)
		rows := w[part*some*row : min((part+1)*some*row, len(w))]
		blocks(len(rows), row, INT4Group, func(b, from, to int) {
			first := from % row
			if first == 0 {
				for i, v := range rows[from : from+row] {
					rest[i] = float64(v)
				}
			}
			for i := range to - from {
				group[i] = float32(rest[first+i])
			}
			scale, zero := m.begin(b+part*Blocks(some*row, row, INT4Group), group[:to-from], asymmetric)
			if math.IsInf(float64(scale), 0) {
				return // check will say so
			}
			for i := from; i < to; i++ {
				column := i % row
				code := nearestCode(float32(rest[column]), scale, zero)
				lowFirst.put(m.Codes, i+part*some*row, code)
				factors := raw.Data[column*raw.Stride+column : column*raw.Stride+row]
				off := (rest[column] - float64(code-zero)*float64(scale)) / factors[0]
				floats.AddScaled(rest[column+1:], -off, factors[1:])
			}
		})
	})
	return m, m.check()
}
