package ops

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"flashlab/grader/oracle"
	"flashlab/grader/wire"
	"flashlab/tensor"
)

// Timed is what timing needs of an operation: outputs may be of any size, so pieces of
// them are checked, and each piece's own part of the inputs is made anew.
type Timed struct {
	// Piece is how many elements of the output belong together: pieces begin at its
	// multiples.
	Piece func(c wire.Case) int
	// Truth is what one piece is judged by, as one row.
	Truth func(c wire.Case, from int) oracle.Truth
	// FLOPS is how many additions and multiplications there are to do.
	FLOPS func(c wire.Case) float64
	// Held is the device memory that is taken besides the tensors; nil is none.
	Held func(c wire.Case) int64
}

// LikeBaseline tells that no truth is to be had at this size: what the baseline, which
// is the course's own, writes for the same inputs is compared with.
func (t *Timed) LikeBaseline() bool { return t.Truth == nil }

// Close is how far from the baseline's a piece may be where there is no truth, by the
// root of the mean square.
const Close = 1e-3

// Apart is how far got is from the baseline's want, by the root of its mean square.
// It is NaN where either is.
func Apart(got, want []float32) float64 {
	var square, most float64
	for i, w := range want {
		square += float64(w) * float64(w)
		d := math.Abs(float64(got[i]) - float64(w))
		if d > most || math.IsNaN(d) {
			most = d
		}
	}
	return most / math.Sqrt(square/float64(len(want)))
}

// TimedSpec is the usual workload of a shape: normal numbers, and every slot of every
// sequence filled.
func (o Op) TimedSpec(shape []int, causal bool) Spec {
	s := Spec{Shape: shape, Dist: tensor.Normal, Causal: causal}
	if o.Each != "" && len(shape) > 3 {
		s.Each = slices.Repeat([]int{shape[3]}, max(shape[0], 0))
	}
	return s
}

// TimedCase is a case of any size; its inputs are all random.
func (o Op) TimedCase(s Spec) (wire.Case, error) {
	if o.Timed == nil {
		return wire.Case{}, fmt.Errorf("op %q is not timed", o.Name)
	}
	c, err := o.make(s, 0, 1, true)
	c.Timed = true
	for i := range c.Inputs {
		in := &c.Inputs[i]
		if in.Given { // a cache, whose slots are all filled
			in.Given, in.Dist = false, tensor.Normal
		}
	}
	return c, err
}

// Judge compares pieces, one after another in got, with the truth. The case has the seed
// of the run that wrote them.
func (t *Timed) Judge(c wire.Case, from []int, got []float32) oracle.Judgement {
	truths := make([]oracle.Truth, len(from))
	var wg sync.WaitGroup
	for i := range from {
		wg.Go(func() { truths[i] = t.Truth(c, from[i]) })
	}
	wg.Wait()
	return oracle.Concat(truths).Judge(got)
}

// inputPart makes n elements of an input, from one on.
func inputPart(c wire.Case, input, from, n int) []float32 {
	x := make([]float32, n)
	in := c.Inputs[input]
	_ = tensor.Fill(x, in.Dist, c.Seed, in.Stream, from) // the distribution was checked when the case was made
	return x
}

var timedAttention = &Timed{
	Piece: func(c wire.Case) int { return c.Attention().Dim },
	Truth: func(c wire.Case, from int) oracle.Truth {
		s := c.Attention()
		row := from / s.Dim
		head, query := row/s.SeqQ, row%s.SeqQ
		seen := s.SeqK
		if s.Causal {
			seen = max(query+1+s.SeqK-s.SeqQ, 0)
		}
		keys := (head/s.Heads*s.KVHeads + head%s.Heads/(s.Heads/s.KVHeads)) * s.SeqK * s.Dim
		return oneRow(inputPart(c, 0, from, s.Dim), inputPart(c, 1, keys, seen*s.Dim), inputPart(c, 2, keys, seen*s.Dim), s.Dim)
	},
	FLOPS: func(c wire.Case) float64 {
		s := c.Attention()
		pairs := 0
		for i := range s.SeqQ {
			seen := s.SeqK
			if s.Causal {
				seen = min(max(i+1+s.SeqK-s.SeqQ, 0), s.SeqK)
			}
			pairs += seen
		}
		return 4 * float64(s.Batch*s.Heads) * float64(pairs) * float64(s.Dim)
	},
}

// oneRow is the attention of one query to all keys given.
func oneRow(q, k, v []float32, dim int) oracle.Truth {
	if len(k) == 0 {
		return oracle.Truth{Layout: oracle.Layout{Outer: 1, Len: dim, Inner: 1}, Want: make([]float64, dim), Plain: make([]float32, dim), Scale: make([]float64, 1)}
	}
	s := wire.Case{Sizes: map[string]int{"batch": 1, "heads": 1, "seqq": 1, "seqk": len(k) / dim, "dim": dim}}
	return oracle.AttentionTruth(q, k, v, s.Attention())
}

var timedDecode = &Timed{
	Piece: func(c wire.Case) int { return c.Decode().Dim },
	Truth: func(c wire.Case, from int) oracle.Truth {
		s := c.Decode()
		row := from / s.Dim
		sequence, head := row/s.Heads, row%s.Heads/(s.Heads/s.KVHeads)
		var k, v []float32
		for slot := range c.Each[sequence] {
			at := (sequence*s.MaxSeq+slot)*s.Slot() + head*s.Dim
			k, v = append(k, inputPart(c, 1, at, s.Dim)...), append(v, inputPart(c, 2, at, s.Dim)...)
		}
		return oneRow(inputPart(c, 0, from, s.Dim), k, v, s.Dim)
	},
	FLOPS: func(c wire.Case) float64 {
		s := c.Decode()
		slots := 0
		for _, n := range c.Each {
			slots += n
		}
		return 4 * float64(slots) * float64(s.Heads) * float64(s.Dim)
	},
}

var timedSoftmax = &Timed{
	Piece: func(c wire.Case) int { return c.Softmax().Len * c.Softmax().Inner },
	Truth: func(c wire.Case, from int) oracle.Truth {
		s := c.Softmax()
		return oracle.SoftmaxTruth(inputPart(c, 0, from, s.Len*s.Inner), oracle.Layout{Outer: 1, Len: s.Len, Inner: s.Inner})
	},
	FLOPS: func(c wire.Case) float64 { return 5 * float64(c.Softmax().Elements()) },
}

// timedGemm checks as many columns of a row at a time as divide its length, 64 at most.
func timedGemm(transB bool) *Timed {
	piece := func(c wire.Case) int {
		n := c.Sizes["n"]
		for p := min(64, n); ; p-- {
			if n%p == 0 {
				return p
			}
		}
	}
	return &Timed{
		Piece: piece,
		Truth: func(c wire.Case, from int) oracle.Truth {
			s, columns := c.Gemm(transB), piece(c)
			row, column := from/s.N, from%s.N
			batch := row / s.M
			one := s
			one.Batch, one.M, one.N, one.TransB = 1, 1, columns, false
			b := make([]float32, s.K*columns)
			for k := range s.K {
				if !transB {
					copy(b[k*columns:], inputPart(c, 1, (batch*s.K+k)*s.N+column, columns))
				}
			}
			if transB {
				one.TransB = true
				b = inputPart(c, 1, (batch*s.N+column)*s.K, columns*s.K)
			}
			return oracle.GemmTruth(inputPart(c, 0, row*s.K, s.K), b, one)
		},
		FLOPS: func(c wire.Case) float64 {
			s := c.Gemm(transB)
			return 2 * float64(s.Batch) * float64(s.M) * float64(s.N) * float64(s.K)
		},
	}
}
