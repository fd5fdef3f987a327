package b1

import (
	"math"
	"slices"

	"flashlab/attn"
	"flashlab/grader/grading/judge"
	"flashlab/grader/tasks/shared"
)

const (
	positions = "query i of sequence b has position start[b] + i, key j has position j"
	wrongWay  = "the pair (a, b) becomes (a·cos − b·sin, b·cos + a·sin)"
)

// mistakes of a rotation. Only differences of positions count in a score, so that several may give
// the same output: the words fit all of them.
func (r rope) mistakes() []judge.Mistake {
	moved := func(at func(b, i int) int, by int) func(b, i int) int {
		return func(b, i int) int { return at(b, i) + by }
	}
	exponent := func(e func(pair, dim float64) float64) func(int, int, float64) float64 {
		return func(pair, dim int, base float64) float64 { return math.Pow(base, -e(float64(pair), float64(dim))) }
	}
	off := "a position is off by one: " + positions
	theirs := "the frequency of pair j is base^(−2j/Dim), with j counted in pairs: this is what "
	all := []judge.Mistake{
		r.mistake(deviation{otherPairs: true}, "these are the other pairs: with Neighbours pair j is x[2j] and x[2j+1], without it x[j] and x[j + Dim/2]"),
		r.mistake(deviation{stillQ: true, stillK: true}, "nothing is rotated: this is attention to q and k as they are"),
		r.mistake(deviation{stillK: true}, "the keys are not rotated: only the queries are"),
		r.mistake(deviation{stillQ: true}, "the queries are not rotated: only the keys are"),
		r.mistake(deviation{backQ: true, backK: true}, "rotated the wrong way: "+wrongWay),
		r.mistake(deviation{backK: true}, "queries and keys are rotated in opposite ways: of both, "+wrongWay),
		r.mistake(deviation{backQ: true}, "queries and keys are rotated in opposite ways: of both, "+wrongWay),
		r.mistake(deviation{turnsV: true}, "the values are rotated, too: only q and k are"),
		r.mistake(deviation{query: keyAt}, "start has no effect: "+positions+" (if keys begin at start as well, it cancels)"),
		r.mistake(deviation{query: func(_, i int) int { return r.start[0] + i }}, "all sequences start where the first one does: "+positions),
		r.mistake(deviation{query: moved(r.queryAt, 1)}, off), r.mistake(deviation{query: moved(r.queryAt, -1)}, off),
		r.mistake(deviation{frequency: exponent(func(pair, dim float64) float64 { return pair / dim })}, theirs+"base^(−j/Dim) gives"),
		r.mistake(deviation{frequency: exponent(func(pair, dim float64) float64 { return 4 * pair / dim })}, theirs+"base^(−4j/Dim) gives"),
		r.mistake(deviation{frequency: exponent(func(pair, dim float64) float64 { return 2 * (pair + 1) / dim })}, theirs+"counting pairs from 1 gives"),
	}
	for _, base := range []float64{10000, 500000} {
		if base != r.base {
			all = append(all, r.mistake(deviation{frequency: func(pair, dim int, _ float64) float64 { return frequency(pair, dim, base) }},
				"another base is used: take r.Base, which is not always 10000"))
		}
	}
	if r.s.Causal {
		all = append(all, []judge.Mistake{
			r.mistake(deviation{sees: func(_, i, j int) bool { return j <= i+r.s.SeqK-r.s.SeqQ }}, "the causal mask does not go by positions: query i of sequence b sees the keys 0 … start[b] + i"),
			r.mistake(deviation{sees: func(_, i, j int) bool { return j <= i }}, "the causal mask does not go by positions: query i of sequence b sees the keys 0 … start[b] + i"),
			r.mistake(deviation{sees: func(int, int, int) bool { return true }}, "wrong only where the key lies after the query: the causal mask is not applied"),
			r.mistake(deviation{sees: func(b, i, j int) bool { return j < r.queryAt(b, i) }}, "the causal mask is off by one: a query sees the key at its own position, too"),
			r.mistake(deviation{sees: func(b, i, j int) bool { return j <= r.queryAt(b, i)+1 }}, "the causal mask is off by one: a query sees one key too many"),
		}...)
	}
	return all
}

// mistake is that of doing one thing otherwise.
func (r rope) mistake(v deviation, says string) judge.Mistake {
	return judge.Wrong(func() []float64 { out, _ := r.exact(v); return out }, says)
}

// imprecise are right but for rounding.
func (r rope) imprecise() []judge.Mistake {
	rounded := func(v deviation, says string) judge.Mistake {
		m := r.mistake(v, says)
		m.Rounds = true
		return m
	}
	return []judge.Mistake{
		rounded(deviation{keep: half}, "nearly right, as if cosines and sines had the 11 bits of half precision: compute and keep them in float32"),
		rounded(deviation{angle: func(p int, f float64) float64 { return half(float64(p) * f) }}, "nearly right, as if the angle were kept in half precision: it needs more than 11 bits"),
	}
}

// far is from where on a float32's angle is visibly off.
const far = 4096

// half rounds to 11 bits.
func half(x float64) float64 {
	_, e := math.Frexp(x)
	unit := math.Ldexp(1, e-11)
	return math.RoundToEven(x/unit) * unit
}

// pattern recognises the output of a mistake.
func (r rope) pattern(t judge.Truth, got []float32, j judge.Judgement) string {
	if says := t.Recognise(got, j, append(r.mistakes(), r.imprecise()...)...); says != "" {
		return says
	}
	if j.Error < 0.1 && slices.Max(r.start) > far {
		return "nearly right, and positions are large here: a float32 has too few bits for an angle of thousands. Whole turns do not count: keep the fraction of a turn"
	}
	if r.ordinary() {
		q, k, _ := r.inputs(deviation{})
		return shared.AttentionOn(r.s, judge.Narrow(q), judge.Narrow(k), r.v).Pattern(t, got, j)
	}
	wrong := judge.WrongRows(t, got, j.Bound)
	if judge.FirstOnly(wrong, r.s.Batch*r.s.Heads) {
		return "the first head is right, the others are not: where does head h of q, k, v and out start? (SeqQ and SeqK may differ)"
	}
	return judge.Edge(shared.AnyBatch(wrong, r.s.SeqQ), "query row")
}

// ordinary tells whether the mask, by positions, is that of an attention without positions: then
// that one's mistakes are looked for, too.
func (r rope) ordinary() bool {
	for b := range r.s.Batch {
		if r.s.Causal && r.start[b] != r.s.SeqK-r.s.SeqQ {
			return false
		}
	}
	return true
}

// row is one query of one head with the keys that it sees, as an attention of its own.
func (r rope) row(position int) rope {
	r.s = attn.Shape{Batch: 1, Heads: 1, KVHeads: 1, SeqQ: 1, SeqK: len(r.k) / r.s.Dim, Dim: r.s.Dim}
	r.start = []int{position}
	return r
}
