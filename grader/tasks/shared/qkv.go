package shared

import "flashlab/grader/grading/problem"

// QKV is where a projection's numbers go: of rows [Batch · Seq, Outputs] to q [Batch, Heads, Seq, Dim], k
// and v [Batch, KVHeads, Seq, Dim]; or, with TokensFirst, to q [Batch, Seq, Heads, Dim] and so on.
type QKV struct {
	Batch, Seq, Heads, KVHeads, Dim int
	TokensFirst                     bool
	Bias                            []float32 // that was added; none has no numbers
}

// QKVOf takes the numbers from a case.
func QKVOf(c problem.Problem, bias []float32) QKV {
	s := c.Sizes
	return QKV{Batch: s["batch"], Seq: s["seq"], Heads: s["heads"], KVHeads: s["kvheads"], Dim: s["dim"], Bias: bias}
}

// Rows is how many rows there are.
func (p QKV) Rows() int { return p.Batch * p.Seq }

// Outputs is how many numbers a row has: those of all heads of q, then of k, then of v.
func (p QKV) Outputs() int { return (p.Heads + 2*p.KVHeads) * p.Dim }

// Tensors are q, k and v.
func (p QKV) Tensors(t problem.Tensor) []problem.Tensor {
	var all []problem.Tensor
	for i, heads := range p.heads() {
		t.Name, t.Shape = []string{"q", "k", "v"}[i], []int{p.Batch, heads, p.Seq, p.Dim}
		if p.TokensFirst {
			t.Shape = []int{p.Batch, p.Seq, heads, p.Dim}
		}
		all = append(all, t)
	}
	return all
}

func (p QKV) heads() [3]int { return [3]int{p.Heads, p.KVHeads, p.KVHeads} }

// each goes through all numbers: output i has as its number at that of a row and a column.
func (p QKV) each(visit func(i, at, row, column int)) {
	first := 0
	for i, heads := range p.heads() {
		for at := range p.Rows() * heads * p.Dim {
			row, head := at/(heads*p.Dim), at/p.Dim%heads
			if !p.TokensFirst {
				row, head = at/(p.Seq*heads*p.Dim)*p.Seq+at/p.Dim%p.Seq, at/(p.Seq*p.Dim)%heads
			}
			visit(i, at, row, first+head*p.Dim+at%p.Dim)
		}
		first += heads * p.Dim
	}
}

// Gather is [rows, outputs] of q, k and v.
func (p QKV) Gather(out [][]float32) []float32 {
	all := make([]float32, p.Rows()*p.Outputs())
	p.each(func(i, at, row, column int) { all[row*p.Outputs()+column] = out[i][at] })
	return all
}

// Scatter is q, k and v of [rows, outputs].
func (p QKV) Scatter(all []float32) [][]float32 {
	var out [][]float32
	for _, heads := range p.heads() {
		out = append(out, make([]float32, p.Rows()*heads*p.Dim))
	}
	p.each(func(i, at, row, column int) { out[i][at] = all[row*p.Outputs()+column] })
	return out
}
