package shared

import "flashlab/grader/grading/judge"

// Mistakes are those of bias, heads and layout, for an output that should be want [rows, outputs].
func (p QKV) Mistakes(want []float64) []judge.Mistake {
	outputs, dim, kv := p.Outputs(), p.Dim, p.KVHeads
	q, k := p.Heads*dim, kv*dim
	// moved is the output with columns taken from elsewhere.
	moved := func(from func(column int) int) func() []float64 {
		return func() []float64 {
			y := make([]float64, len(want))
			for i := range y {
				y[i] = want[i/outputs*outputs+from(i%outputs)]
			}
			return y
		}
	}
	all := []judge.Mistake{judge.Wrong(moved(func(n int) int {
		switch {
		case n < q:
			return n
		case n < q+k:
			return n + k
		}
		return n - k
	}), "k and v are swapped: behind the heads of q come those of k, then those of v")}
	if kv > 1 {
		all = append(all, judge.Wrong(moved(func(n int) int {
			if n < q {
				return n
			}
			head, isV := (n-q)%k/dim, (n-q)/k
			return q + (2*head+isV)*dim + n%dim
		}), "heads of k and of v are taken in turns: behind the heads of q come all those of k, then all those of v"),
			judge.Wrong(moved(func(n int) int {
				if n < q {
					return n
				}
				return q + (n-q)/k*k + (n-q)%dim
			}), "all heads of k, and of v, hold the first one's numbers: there are KVHeads of each"))
	}
	if kv < p.Heads {
		all = append(all, judge.Wrong(moved(func(n int) int {
			if n < q+k {
				return n
			}
			return min(n-q-k+2*q, outputs-1) // as if k had as many heads as q
		}), "v is not where it should be: k has KVHeads heads, and not Heads"))
	}
	if p.Seq > 1 && p.Heads > 1 {
		says := "q, k and v are written as [batch, seq, heads, dim]: a head's tokens lie together"
		if p.TokensFirst {
			says = "q, k and v are written as [batch, heads, seq, dim]: with TokensFirst a token's heads lie together"
		}
		all = append(all, judge.Wrong(func() []float64 { return p.otherLayout(want) }, says))
	}
	return append(p.biases(want), all...)
}

// biases are the mistakes that one makes with it.
func (p QKV) biases(want []float64) []judge.Mistake {
	if len(p.Bias) == 0 {
		return nil
	}
	outputs := p.Outputs()
	bias := func(n int) float64 { return float64(p.Bias[n]) }
	added := func(more func(n int) float64) func() []float64 {
		return func() []float64 {
			y := make([]float64, len(want))
			for i := range y {
				y[i] = want[i] + more(i%outputs)
			}
			return y
		}
	}
	neighbour := func(by int) func(n int) float64 {
		return func(n int) float64 { return bias(min(max(n+by, 0), outputs-1)) - bias(n) }
	}
	const behind = "a column has its neighbour's bias: output n has bias[n]"
	return []judge.Mistake{
		judge.Wrong(added(func(n int) float64 { return -bias(n) }), "the bias is missing: it is added once to every output"),
		judge.Wrong(added(bias), "the bias is added twice"),
		judge.Wrong(added(func(n int) float64 { return bias(n%p.Dim) - bias(n) }), "every head has the first head's bias: it has a number for each of the outputs"),
		judge.Wrong(added(neighbour(1)), behind),
		judge.Wrong(added(neighbour(-1)), behind),
	}
}

// otherLayout is what one reads of q, k and v that were written in the other layout.
func (p QKV) otherLayout(want []float64) []float64 {
	other := p
	other.TokensFirst = !p.TokensFirst
	written := [3][]float64{}
	for i, heads := range p.heads() {
		written[i] = make([]float64, p.Rows()*heads*p.Dim)
	}
	other.each(func(i, at, row, column int) { written[i][at] = want[row*p.Outputs()+column] })
	y := make([]float64, len(want))
	p.each(func(i, at, row, column int) { y[row*p.Outputs()+column] = written[i][at] })
	return y
}
