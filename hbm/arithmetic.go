package hbm

import "math"

// Fill sets every element to v.
func (t *Tile) Fill(v float32) {
	t.each(opFill, nil, Call{Value: v}, func(row, _ []float32) {
		for j := range row {
			row[j] = v
		}
	})
}

// Scale multiplies every element by f.
func (t *Tile) Scale(f float32) {
	t.each(opScale, nil, Call{Value: f}, func(row, _ []float32) {
		for j := range row {
			row[j] *= f
		}
	})
}

// Exp replaces every element x by e to the power x; -Inf gives 0.
func (t *Tile) Exp() {
	t.each(opExp, nil, Call{}, func(row, _ []float32) {
		for j, v := range row {
			row[j] = float32(math.Exp(float64(v)))
		}
	})
}

// Mask sets the elements (i, j) with j > i + diagonal to -Inf. In each row i, the
// columns up to i + diagonal remain.
func (t *Tile) Mask(diagonal int) {
	negInf := float32(math.Inf(-1))
	t.in.work(opMask, nil, Call{Rows: diagonal}, func() {
		for i := range t.in.rows {
			row := t.in.row(i)
			for j := max(0, i+diagonal+1); j < len(row); j++ {
				row[j] = negInf
			}
		}
	})
}

// Copy, Add, Sub, Mul and Div combine each element of t with the element of x in
// the same place. x has t's shape, or it is a column [t.Rows(), 1]: then all of row
// i is combined with its element i.

// Copy sets t to x.
func (t *Tile) Copy(x *Tile) { t.combine(opCopy, x, func(_, b float32) float32 { return b }) }

// Add adds x to t.
func (t *Tile) Add(x *Tile) { t.combine(opAdd, x, func(a, b float32) float32 { return a + b }) }

// Sub subtracts x from t.
func (t *Tile) Sub(x *Tile) { t.combine(opSub, x, func(a, b float32) float32 { return a - b }) }

// Mul multiplies t by x, element by element. (MulT and AddMul multiply matrices.)
func (t *Tile) Mul(x *Tile) { t.combine(opMul, x, func(a, b float32) float32 { return a * b }) }

// Div divides t by x, element by element.
func (t *Tile) Div(x *Tile) { t.combine(opDiv, x, func(a, b float32) float32 { return a / b }) }

func (t *Tile) combine(call string, x *Tile, f func(a, b float32) float32) {
	if x == nil {
		x = &Tile{} // work refuses it
	}
	t.each(call, x, Call{}, func(row, other []float32) {
		if len(other) == 1 {
			for j, v := range row {
				row[j] = f(v, other[0])
			}
			return
		}
		for j, v := range row {
			row[j] = f(v, other[j])
		}
	})
}

// MaxRows raises each element of the column t [rows, 1] to the largest of its
// row in x [rows, …], if that is larger.
func (t *Tile) MaxRows(x *Tile) {
	t.column(opMaxRows, x, func(v float32, row []float32) float32 {
		for _, r := range row {
			v = max(v, r)
		}
		return v
	})
}

// SumRows adds to each element of the column t [rows, 1] the sum of its row in
// x [rows, …].
func (t *Tile) SumRows(x *Tile) {
	t.column(opSumRows, x, func(v float32, row []float32) float32 {
		var sum float32
		for _, r := range row {
			sum += r
		}
		return v + sum
	})
}

// MulT sets t to a · bᵀ: element (i, j) is the dot product of row i of a and
// row j of b. t must be neither of them.
func (t *Tile) MulT(a, b *Tile) {
	t.in.work(opMulT, []*Tile{a, b}, Call{}, func() {
		x, y := a.in, b.in
		if t.in.rows != x.rows || t.in.cols != y.rows || x.cols != y.cols || t.in.shares(x) || t.in.shares(y) {
			t.in.machine.fail("MulT: %v = %v · %vᵀ: want [m, n] = [m, d] · [n, d]ᵀ, and a result apart from both", t.in, x, y)
			return
		}
		for i := range t.in.rows {
			to, from := t.in.row(i), x.row(i)
			for j := range to {
				to[j] = dot(from, y.row(j))
			}
		}
	})
}

// AddMul adds a · b to t. t must be neither of them.
func (t *Tile) AddMul(a, b *Tile) {
	t.in.work(opAddMul, []*Tile{a, b}, Call{}, func() {
		x, y := a.in, b.in
		if t.in.rows != x.rows || t.in.cols != y.cols || x.cols != y.rows || t.in.shares(x) || t.in.shares(y) {
			t.in.machine.fail("AddMul: %v += %v · %v: want [m, d] += [m, n] · [n, d], and a result apart from both", t.in, x, y)
			return
		}
		for i := range t.in.rows {
			to := t.in.row(i)
			for k, f := range x.row(i) {
				from := y.row(k)
				for j := range to {
					to[j] += f * from[j]
				}
			}
		}
	})
}

// dot adds up in four lanes, which a processor can do in parallel.
func dot(a, b []float32) float32 {
	b = b[:len(a)]
	var s0, s1, s2, s3 float32
	i := 0
	for ; i+4 <= len(a); i += 4 {
		s0 += a[i] * b[i]
		s1 += a[i+1] * b[i+1]
		s2 += a[i+2] * b[i+2]
		s3 += a[i+3] * b[i+3]
	}
	for ; i < len(a); i++ {
		s0 += a[i] * b[i]
	}
	return s0 + s1 + (s2 + s3)
}

// each calls f for each row of t, with the matching row of x if there is an x.
func (t *Tile) each(call string, x *Tile, more Call, f func(row, other []float32)) {
	var operands []*Tile
	if x != nil {
		operands = []*Tile{x}
	}
	t.in.work(call, operands, more, func() {
		if x != nil && (x.in.rows != t.in.rows || (x.in.cols != t.in.cols && x.in.cols != 1)) {
			t.in.machine.fail("%s of tiles %v and %v: want the same shape, or a column [%d, 1] as the second", call, t.in, x.in, t.in.rows)
			return
		}
		for i := range t.in.rows {
			var other []float32
			if x != nil {
				other = x.in.row(i)
			}
			f(t.in.row(i), other)
		}
	})
}

// column calls f for each element of the column t and its row of x.
func (t *Tile) column(call string, x *Tile, f func(v float32, row []float32) float32) {
	t.in.work(call, []*Tile{x}, Call{}, func() {
		if t.in.cols != 1 || x.in.rows != t.in.rows {
			t.in.machine.fail("%s of %v into %v: want a column with as many rows", call, x.in, t.in)
			return
		}
		for i := range t.in.rows {
			to := t.in.row(i)
			to[0] = f(to[0], x.in.row(i))
		}
	})
}

// shares tells whether two tiles use the same memory.
func (t *tile) shares(o *tile) bool { return &t.data[0] == &o.data[0] }
