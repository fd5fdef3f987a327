package b1

import (
	"fmt"
	"math"

	"flashlab/attn"
	"flashlab/grader/grading/judge"
)

// rope is an attention with rotation, and its inputs.
type rope struct {
	s          attn.Shape // whose Sees does not apply: the mask goes by positions
	start      []int
	base       float64
	neighbours bool
	q, k, v    []float32
}

func (r rope) String() string {
	pairs := "halves"
	if r.neighbours {
		pairs = "neighbours"
	}
	return fmt.Sprintf("%v, starts %v, base %g, pairs of %s", r.s, r.start, r.base, pairs)
}

// deviation is the same with one thing done otherwise; the zero value is the right one.
type deviation struct {
	otherPairs     bool
	query, key     func(b, i int) int // positions
	stillQ, stillK bool               // not rotated
	backQ, backK   bool               // rotated the wrong way
	turnsV         bool               // rotated like the keys
	frequency      func(pair, dim int, base float64) float64
	angle          func(position int, frequency float64) float64
	keep           func(x float64) float64 // of a cosine or sine
	sees           func(b, i, j int) bool
	scale          float64 // 0 for 1 / √dim
}

// frequency is by how much pair is turned for each step of the position.
func frequency(pair, dim int, base float64) float64 {
	return math.Pow(base, -2*float64(pair)/float64(dim))
}

func (r rope) queryAt(b, i int) int { return r.start[b] + i }

func keyAt(_, j int) int { return j }

// sees tells whether the mask lets query i of sequence b see key j.
func (r rope) sees(b, i, j int) bool { return !r.s.Causal || j <= r.queryAt(b, i) }

func (v *deviation) fill(r rope) {
	if v.query == nil {
		v.query = r.queryAt
	}
	if v.key == nil {
		v.key = keyAt
	}
	if v.frequency == nil {
		v.frequency = frequency
	}
	if v.angle == nil {
		v.angle = func(position int, f float64) float64 { return float64(position) * f }
	}
	if v.keep == nil {
		v.keep = func(x float64) float64 { return x }
	}
	if v.sees == nil {
		v.sees = r.sees
	}
	if v.scale == 0 {
		v.scale = 1 / math.Sqrt(float64(r.s.Dim))
	}
}

// turn rotates the rows of x [batch, heads, seq, dim] by their positions.
func (v *deviation) turn(r rope, x []float32, seq int, at func(b, i int) int, back bool) []float64 {
	half := r.s.Dim / 2
	f := make([]float64, half)
	for pair := range f {
		f[pair] = v.frequency(pair, r.s.Dim, r.base)
	}
	y := make([]float64, len(x))
	for b := range r.s.Batch {
		for i := range seq {
			for pair := range half {
				angle := v.angle(at(b, i), f[pair])
				if back {
					angle = -angle
				}
				cosine, sine := v.keep(math.Cos(angle)), v.keep(math.Sin(angle))
				first, second := pair, pair+half
				if r.neighbours != v.otherPairs {
					first, second = 2*pair, 2*pair+1
				}
				for h := range r.s.Heads {
					row := ((b*r.s.Heads+h)*seq + i) * r.s.Dim
					one, two := float64(x[row+first]), float64(x[row+second])
					y[row+first], y[row+second] = one*cosine-two*sine, two*cosine+one*sine
				}
			}
		}
	}
	return y
}

// inputs are the queries, keys and values as they are multiplied.
func (r rope) inputs(v deviation) (q, k, values []float64) {
	v.fill(r)
	q, k, values = judge.Wide(r.q), judge.Wide(r.k), judge.Wide(r.v)
	if !v.stillQ {
		q = v.turn(r, r.q, r.s.SeqQ, v.query, v.backQ)
	}
	if !v.stillK {
		k = v.turn(r, r.k, r.s.SeqK, v.key, v.backK)
	}
	if v.turnsV {
		values = v.turn(r, r.v, r.s.SeqK, v.key, v.backK)
	}
	return q, k, values
}

// exact is the attention in float64. size is, for each row, what a rounding error of 1 in everything
// would come to (see shared.Attention64).
func (r rope) exact(v deviation) (out, size []float64) {
	q, k, values := r.inputs(v)
	v.fill(r)
	s, dim := r.s, r.s.Dim
	out, size = make([]float64, len(r.q)), make([]float64, len(r.q)/dim)
	p, of := make([]float64, s.SeqK), make([]float64, s.SeqK)
	for row := range size {
		head, i := row/s.SeqQ, row%s.SeqQ
		b, keys := head/s.Heads, head*s.SeqK
		largest, sum := math.Inf(-1), 0.0
		for j := range p {
			p[j] = math.Inf(-1)
			if !v.sees(b, i, j) {
				continue
			}
			var dot, squares float64
			for x := range dim {
				term := q[row*dim+x] * k[(keys+j)*dim+x]
				dot, squares = dot+term, squares+term*term
			}
			p[j] = dot * v.scale
			of[j] = max(math.Abs(p[j]), math.Sqrt(squares)*v.scale)
			largest = max(largest, p[j])
		}
		if math.IsInf(largest, -1) {
			continue // of a mistake: it sees nothing
		}
		for j := range p {
			p[j] = math.Exp(p[j] - largest)
			sum += p[j]
		}
		y := out[row*dim : (row+1)*dim]
		for j := range p {
			p[j] /= sum
			for x := range y {
				y[x] += p[j] * values[(keys+j)*dim+x]
			}
		}
		var squares float64
		for j := range p {
			for x := range y {
				value := values[(keys+j)*dim+x]
				term, shift := p[j]*value, p[j]*(value-y[x])*of[j]
				squares += term*term + shift*shift
			}
		}
		size[row] = math.Sqrt(squares / float64(dim))
	}
	return out, size
}

// plain is the same in float32, in the plainest order. Only angles are in float64.
func (r rope) plain() []float32 {
	s, dim := r.s, r.s.Dim
	exactQ, exactK, _ := r.inputs(deviation{})
	q, k := judge.Narrow(exactQ), judge.Narrow(exactK)
	factor := float32(1 / math.Sqrt(float64(dim)))
	out, p := make([]float32, len(q)), make([]float32, s.SeqK)
	for row := range len(q) / dim {
		head, i := row/s.SeqQ, row%s.SeqQ
		b, keys := head/s.Heads, head*s.SeqK
		largest, sum := float32(math.Inf(-1)), float32(0)
		for j := range p {
			p[j] = float32(math.Inf(-1))
			if !r.sees(b, i, j) {
				continue
			}
			var dot float32
			for x := range dim {
				dot += q[row*dim+x] * k[(keys+j)*dim+x]
			}
			p[j] = dot * factor
			largest = max(largest, p[j])
		}
		for j := range p {
			p[j] = float32(math.Exp(float64(p[j] - largest)))
			sum += p[j]
		}
		for j := range p {
			for x := range dim {
				out[row*dim+x] += p[j] / sum * r.v[(keys+j)*dim+x]
			}
		}
	}
	return out
}

// truth is what an output is judged by.
func (r rope) truth() judge.Truth {
	want, size := r.exact(deviation{})
	return judge.Truth{Layout: judge.Layout{Outer: len(size), Len: r.s.Dim, Inner: 1}, Want: want, Plain: r.plain(), Scale: size}
}
