package shared

import (
	"fmt"

	"flashlab/attn"
	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
	"flashlab/tensor"
)

// Gemm is a batched product c = a · b; transB says that b comes transposed.
func Gemm(name string, transB bool) judge.Op {
	return judge.Op{
		Name:  name,
		Sizes: []string{"batch", "m", "n", "k"},
		Rules: func(c problem.Problem) error {
			if c.Dist == tensor.Masked {
				return fmt.Errorf("a product of masked inputs: -Inf times 0 is NaN")
			}
			return nil
		},
		Tensors: func(c problem.Problem) (in, out []problem.Tensor) {
			s := c.Gemm(transB)
			b := []int{s.Batch, s.K, s.N}
			if transB {
				b = []int{s.Batch, s.N, s.K}
			}
			return []problem.Tensor{{Name: "a", Shape: []int{s.Batch, s.M, s.K}}, {Name: "b", Shape: b, Dist: tensor.Normal}},
				[]problem.Tensor{{Name: "c", Shape: []int{s.Batch, s.M, s.N}}}
		},
		Judge: func(c problem.Problem, in []*tensor.Tensor, out problem.Answer) judge.Ruling {
			s := c.Gemm(transB)
			a, b, got := in[0].Data, in[1].Data, out.Tensors[0].Data
			t := GemmTruth(a, b, s)
			v := judge.Rule(c, s, t, got, func(j judge.Judgement) string { return gemmPattern(t, got, a, b, s, j) })
			if says := swappedGrid(got, s); says != "" {
				v.Reason = says
			}
			return v
		},
		Least: judge.Once,
		Timed: timedGemm(transB),
	}
}

// gemmPattern compares with the products that one computes by mistake.
func gemmPattern(t judge.Truth, got, a, b []float32, s attn.GemmShape, j judge.Judgement) string {
	if t.Same(got, t.Want) {
		return ""
	}
	product := func(a, b func() []float32, s attn.GemmShape, says string) judge.Mistake {
		return judge.Wrong(func() []float64 { c, _ := Gemm64(a(), b(), s); return c }, says)
	}
	given := func(x []float32) func() []float32 { return func() []float32 { return x } }
	first := func(x []float32) func() []float32 { return func() []float32 { return Repeated(x, s.Batch) } }
	var known []judge.Mistake
	if s.K > 1 && s.N > 1 {
		other, says := s, "this is the product with b read as [batch, n, k]; here b is [batch, k, n]"
		if other.TransB = !s.TransB; s.TransB {
			says = "this is the product with b read as [batch, k, n]; here b is stored transposed, as [batch, n, k]"
		}
		known = append(known, product(given(a), given(b), other, says))
	}
	if s.M == s.N && s.N == s.K && s.N > 1 { // else the sizes do not fit, and the simulator sees it
		known = append(known, product(given(b), given(a), s, "this is the product with a and b exchanged: are they in the kernel's order where it is launched?"))
	}
	known = append(known, judge.Wrong(func() []float64 { return Transposed(t.Want, s) }, "c is right but transposed: element (m, n) is at m * N + n"))
	known = append(known, strides(a, b, s, product)...)
	if s.Batch > 1 {
		known = append(known,
			product(first(a), given(b), s, "every batch uses the first one's a: is the batch's stride in the index of a?"),
			product(given(a), first(b), s, "every batch uses the first one's b: is the batch's stride in the index of b?"))
	}
	for _, tile := range judge.Tiles {
		if cut := s.K / tile * tile; cut > 0 && cut < s.K {
			known = append(known, product(func() []float32 { return cutA(a, s, cut) }, given(b), s,
				fmt.Sprintf("the terms from k = %d on are missing: is the last partial tile of k dropped?", cut)))
		}
	}
	if says := t.Recognise(got, j, known...); says != "" {
		return says
	}
	rows := judge.WrongRows(t, got, j.Bound)
	if judge.FirstOnly(rows, s.Batch) {
		return "the first product of the batch is right, the others are not: where does each matrix start?"
	}
	if why := judge.Edge(wrongColumns(t, got, s), "column"); why != "" {
		return why
	}
	return judge.Edge(AnyBatch(rows, s.M), "row")
}

// cutA zeroes what a has from k = cut on.
func cutA(a []float32, s attn.GemmShape, cut int) []float32 {
	short := append([]float32{}, a...)
	for i := range short {
		if i%s.K >= cut {
			short[i] = 0
		}
	}
	return short
}

// Repeated puts the first batch in place of all.
func Repeated(x []float32, batch int) []float32 {
	var all []float32
	for range batch {
		all = append(all, x[:len(x)/batch]...)
	}
	return all
}

// Transposed is every batch of c written as [N, M].
func Transposed(c []float64, s attn.GemmShape) []float64 {
	t := make([]float64, len(c))
	for i := range c {
		batch, m, n := i/(s.M*s.N), i/s.N%s.M, i%s.N
		t[batch*s.M*s.N+n*s.M+m] = c[i]
	}
	return t
}

// wrongColumns judges columns of c as rows are judged.
func wrongColumns(t judge.Truth, got []float32, s attn.GemmShape) []bool {
	wrong := make([]bool, s.N)
	for i, w := range t.Want {
		d := float64(got[i]) - w
		if limit := 1e-3 * t.Scale[i/s.N]; !(d <= limit && d >= -limit) { // NaN is wrong
			wrong[i%s.N] = true
		}
	}
	return wrong
}

// AnyBatch folds rows of all batches into one.
func AnyBatch(wrong []bool, m int) []bool {
	folded := make([]bool, m)
	for i, w := range wrong {
		folded[i%m] = folded[i%m] || w
	}
	return folded
}

// Product64 is the product alone.
func Product64(a, b []float32, s attn.GemmShape) []float64 {
	c, _ := Gemm64(a, b, s)
	return c
}
