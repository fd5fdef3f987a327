package b10

import (
	"math"

	"flashlab/attn"
	"flashlab/grader/grading/judge"
	"flashlab/tensor"
)

// backward is a case with its inputs: what a forward pass had and left, and the gradient by its output.
type backward struct {
	s                       attn.Shape
	ty                      tensor.Type // of all but lse
	q, k, v, out, lse, dOut []float32
}

// way is how gradients are computed; the zero value is the right one. What is otherwise is what students do by mistake.
type way struct {
	raw       bool // P is exp(S − the largest S of the row): nothing divides by the row's sum
	bare      bool // P is exp(S)
	noD       bool // dS = P ∘ dP
	scaleDQ   bool // the scale is missing in dq
	scaleDK   bool // and in dk
	unmasked  bool // the mask does not hide pairs
	headOnly  int  // of a group, dk and dv are of its first head alone (1), or of its last (2)
	otherHead bool // query head h reads key head h % KVHeads
}

// gradients are dq, dk and dv. size is, for each row of these, what a rounding error of 1 in everything would come to
// if the signs of its terms were random.
type gradients struct{ out, size [3][]float64 }

// terms are those of one pair of a query and a key; the last three are the squares of its rows of q, k and dOut.
type terms struct{ p, dS, pSize, dSSize, qq, kk, gg float64 }

// flushed is the size of a term that a type has no normal number for. In float32, what is below 2⁻¹²⁶ may be 0, which is
// an error of one in 2²⁴ of this; in float16 numbers below 2⁻¹⁴ are multiples of 2⁻²⁴.
func flushed(ty tensor.Type) float64 {
	if ty == tensor.Float16 {
		return 0x1p-14
	}
	return 0x1p-102
}

// float32s are errors of float32, of which eight times the plain way's pass, in units of the last bit of a narrow type.
var float32s = map[tensor.Type]float64{tensor.Float16: 8 * 0x1p-13, tensor.BFloat16: 8 * 0x1p-16}

// keyHead is the key head, over the whole batch, that a query head reads.
func (b backward) keyHead(head int, w way) int {
	in, group := head%b.s.Heads, b.s.Heads/b.s.KVHeads
	if w.otherHead {
		return head/b.s.Heads*b.s.KVHeads + in%b.s.KVHeads
	}
	return head/b.s.Heads*b.s.KVHeads + in/group
}

// counts tells whether a query head adds to dk and dv.
func (b backward) counts(head int, w way) bool {
	group := b.s.Heads / b.s.KVHeads
	return w.headOnly == 0 || w.headOnly == 1 && head%group == 0 || w.headOnly == 2 && head%group == group-1
}

// pair computes a pair's terms: row is a query's, of all heads, key a key's. largest is for way.raw.
func (b backward) pair(row, key int, largest float64, w way) (t terms) {
	scale, dim := 1/math.Sqrt(float64(b.s.Dim)), b.s.Dim
	var dot, dots, dP, dPs, d, ds float64
	for x := range dim {
		q, k, v := float64(b.q[row*dim+x]), float64(b.k[key*dim+x]), float64(b.v[key*dim+x])
		g, out := float64(b.dOut[row*dim+x]), float64(b.out[row*dim+x])
		dot, dots = dot+q*k, dots+q*k*q*k
		dP, dPs = dP+g*v, dPs+g*v*g*v
		d, ds = d+g*out, ds+g*out*g*out
		t.qq, t.kk, t.gg = t.qq+q*q, t.kk+k*k, t.gg+g*g
	}
	lse := float64(b.lse[row])
	if w.raw {
		lse = largest
	}
	if w.bare {
		lse = 0
	}
	if w.noD {
		d = 0
	}
	t.p = math.Exp(dot*scale - lse)
	t.dS = t.p * (dP - d)
	// An error of one in a score, and in lse, is one of P's size in P.
	scores := math.Hypot(1, math.Hypot(math.Max(math.Abs(dot), math.Sqrt(dots))*scale, lse))
	least := flushed(b.ty)
	t.pSize = math.Max(t.p*scores, least)
	t.dSSize = math.Max(math.Hypot(t.dS*scores, t.p*math.Sqrt(dPs+ds+dP*dP+d*d)), least*math.Max(1, math.Abs(dP-d)))
	if b.ty != tensor.Float32 { // P and dS are rounded, and terms of float32 may cancel in them
		rest := float32s[b.ty]
		t.pSize = math.Hypot(math.Max(t.p, least), t.pSize*rest)
		t.dSSize = math.Hypot(math.Max(math.Abs(t.dS), least), t.dSSize*rest)
	}
	return t
}

// largest is the largest score of a query, for way.raw.
func (b backward) largest(row, keys int) float64 {
	largest := math.Inf(-1)
	for j := range b.s.SeqK {
		dot := 0.0
		for x := range b.s.Dim {
			dot += float64(b.q[row*b.s.Dim+x]) * float64(b.k[(keys+j)*b.s.Dim+x])
		}
		if b.s.Sees(row%b.s.SeqQ, j) {
			largest = math.Max(largest, dot/math.Sqrt(float64(b.s.Dim)))
		}
	}
	return largest
}

// compute gives the gradients in float64, of the inputs as they are given: P is made with the given lse, and D with the
// given out.
func (b backward) compute(w way) gradients {
	s, dim := b.s, b.s.Dim
	var g gradients
	for i, n := range []int{s.QElements(), s.KVElements(), s.KVElements()} {
		g.out[i], g.size[i] = make([]float64, n), make([]float64, n/dim)
	}
	scale := 1 / math.Sqrt(float64(dim))
	scaleQ, scaleK := scale, scale
	if w.scaleDQ {
		scaleQ = 1
	}
	if w.scaleDK {
		scaleK = 1
	}
	for row := range s.QElements() / dim {
		head, i, largest := row/s.SeqQ, row%s.SeqQ, 0.0
		keys, counts := b.keyHead(head, w)*s.SeqK, b.counts(head, w)
		if w.raw {
			largest = b.largest(row, keys)
		}
		for j := range s.SeqK {
			blind := math.IsInf(float64(b.lse[row]), -1)
			if blind || !w.unmasked && !s.Sees(i, j) {
				continue
			}
			key := keys + j
			t := b.pair(row, key, largest, w)
			g.add(0, row, t.dS*scaleQ, b.k[key*dim:][:dim], math.Pow(t.dSSize*scaleQ, 2)*t.kk)
			if counts {
				g.add(1, key, t.dS*scaleK, b.q[row*dim:][:dim], math.Pow(t.dSSize*scaleK, 2)*t.qq)
				g.add(2, key, t.p, b.dOut[row*dim:][:dim], math.Pow(t.pSize, 2)*t.gg)
			}
		}
	}
	for i, size := range g.size {
		for row, squares := range size {
			if b.ty != tensor.Float32 { // the gradient itself is rounded
				for _, y := range g.out[i][row*dim : (row+1)*dim] {
					squares += math.Pow(math.Max(math.Abs(y), flushed(b.ty)), 2)
				}
			}
			size[row] = math.Sqrt(squares / float64(dim))
		}
	}
	return g
}

// add adds a factor times a row of an input to a row of a gradient, and the squares of the terms' sizes to the row's.
func (g gradients) add(which, row int, factor float64, of []float32, squares float64) {
	to := g.out[which][row*len(of):][:len(of)]
	for x, y := range of {
		to[x] += factor * float64(y)
	}
	g.size[which][row] += squares
}

// plain is the same in float32, in the plainest order. In 16 bits, P and dS are rounded as tensor cores take them, and the
// gradients at the end.
func (b backward) plain() (g [3][]float32) {
	s, dim := b.s, b.s.Dim
	for i, n := range []int{s.QElements(), s.KVElements(), s.KVElements()} {
		g[i] = make([]float32, n)
	}
	scale := float32(1 / math.Sqrt(float64(dim)))
	for row := range s.QElements() / dim {
		keys := b.keyHead(row/s.SeqQ, way{}) * s.SeqK
		var d float32
		for x := range dim {
			d += b.dOut[row*dim+x] * b.out[row*dim+x]
		}
		for j := range s.SeqK {
			if !s.Sees(row%s.SeqQ, j) {
				continue
			}
			var dot, dP float32
			for x := range dim {
				dot += b.q[row*dim+x] * b.k[(keys+j)*dim+x]
				dP += b.dOut[row*dim+x] * b.v[(keys+j)*dim+x]
			}
			p := float32(math.Exp(float64(dot*scale - b.lse[row])))
			pair := []float32{p, p * (dP - d)}
			b.ty.Round(pair)
			p, dS := pair[0], pair[1]
			for x := range dim {
				g[0][row*dim+x] += dS * b.k[(keys+j)*dim+x]
				g[1][(keys+j)*dim+x] += dS * b.q[row*dim+x]
				g[2][(keys+j)*dim+x] += p * b.dOut[row*dim+x]
			}
		}
	}
	for _, x := range g[:2] {
		for i := range x {
			x[i] *= scale
		}
	}
	for _, x := range g {
		b.ty.Round(x)
	}
	return g
}

// truth is what one of the three gradients is judged by.
func (b backward) truth(which int) judge.Truth {
	g := b.compute(way{})
	t := judge.Truth{Layout: judge.Layout{Outer: len(g.size[which]), Len: b.s.Dim, Inner: 1}, Type: b.ty,
		Want: g.out[which], Plain: b.plain()[which], Scale: g.size[which]}
	if b.ty == tensor.Float32 {
		return t
	}
	return t.AnyRow()
}
