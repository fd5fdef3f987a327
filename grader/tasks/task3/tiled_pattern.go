package task3

import (
	"fmt"
	"math"

	"flashlab/grader/grading/judge"
	"flashlab/grader/tasks/shared"
)

// slip is an online softmax with one thing done otherwise; the zero value is
// the right one.
type slip struct {
	o, l     func(factor float64) float64 // what o and l are multiplied by; nil for the factor itself
	keys     int                          // only so many keys are seen; 0 for all
	carry    bool                         // m, l and o go on into the next block of queries
	diagonal bool                         // every tile is masked as if it began with the same query and key
}

// tiling is task 3's attention, which goes block by block.
type tiling struct{ shared.AttentionInputs }

// tiledPattern compares with what known slips give, for tiles of br queries and
// bc keys.
func (p tiling) tiledPattern(t judge.Truth, got []float32, j judge.Judgement, br, bc int) string {
	if br < 1 || bc < 1 || t.Same(got, t.Want) {
		return ""
	}
	br, bc = min(br, p.S.SeqQ), min(bc, p.S.SeqK) // a submission may have picked them
	if _, nan, _ := judge.Census(got); nan == len(got) && !p.Overflows() {
		return "every element is NaN or infinite. In the first round exp(m_old - m_new) is 0: is something divided by it (line 10 of the paper's Algorithm 1 has the inverse, by mistake), or by an l of 0? Is -Inf subtracted from -Inf?"
	}
	forget := func(float64) float64 { return 1 }
	invert := func(f float64) float64 { return 1 / f }
	lastTile := (p.S.SeqK - 1) / bc * bc
	as := func(k slip, says string) judge.Mistake {
		return judge.Wrong(func() []float64 { return p.online(k, br, bc) }, says)
	}
	return t.Recognise(got, j,
		as(slip{o: forget}, "o is not rescaled when the maximum grows: what it holds is relative to the old maximum. Multiply it by exp(m_old - m_new)"),
		as(slip{l: forget}, "l is not rescaled when the maximum grows: what it holds is relative to the old maximum. Multiply it by exp(m_old - m_new)"),
		as(slip{o: forget, l: forget}, "neither o nor l is rescaled when the maximum grows: what they hold is relative to the old maximum. Multiply both by exp(m_old - m_new)"),
		as(slip{o: invert}, "o is multiplied by the inverse of exp(m_old - m_new), as line 10 of the paper's Algorithm 1 has it by mistake: multiply it by the factor itself"),
		as(slip{o: invert, l: invert}, "o and l are multiplied by the inverse of exp(m_old - m_new): multiply them by the factor itself"),
		as(slip{keys: lastTile}, fmt.Sprintf("the keys from %d on are missing: is the last tile of keys dropped?", lastTile)),
		as(slip{carry: true}, "m, l and o are carried from one block of queries to the next: begin each block with m = -Inf, l = 0 and o = 0"),
		as(slip{diagonal: true}, "each tile is masked along its own diagonal: where the mask crosses a tile depends on the tile's first query and first key"))
}

// state is what is kept of one query.
type state struct {
	m, l float64
	o    []float64
}

// online is attention tile by tile in float64, with a slip.
func (p tiling) online(k slip, br, bc int) []float64 {
	dim := p.S.Dim
	result := make([]float64, p.S.SeqQ*dim)
	carried := make([]state, br)
	for i := range p.S.SeqQ {
		at := &carried[i%br]
		if !k.carry || i < br {
			*at = state{math.Inf(-1), 0, make([]float64, dim)}
		}
		for key := 0; key < p.S.SeqK; key += bc {
			if !p.S.Sees(i/br*br+br-1, key) {
				break
			}
			end := min(key+bc, p.S.SeqK)
			if p.S.Causal { // no row of the block sees more
				end = min(end, min(i/br*br+br, p.S.SeqQ)+p.S.SeqK-p.S.SeqQ)
			}
			scores, largest := p.tileScores(k, i, br, key, end)
			next := math.Max(at.m, largest)
			if math.IsInf(next, -1) {
				continue
			}
			factor := math.Exp(at.m - next)
			at.m = next
			at.l *= k.apply(k.l, factor)
			for x := range at.o {
				at.o[x] *= k.apply(k.o, factor)
			}
			for j, s := range scores {
				w := math.Exp(s - at.m)
				at.l += w
				for x := range at.o {
					at.o[x] += w * float64(p.V[(key+j)*dim+x])
				}
			}
		}
		for x := range at.o {
			at.o[x] /= at.l
			result[i*dim+x] = at.o[x]
		}
	}
	return result
}

// apply guards the first round, in which the factor is 0.
func (slip) apply(f func(float64) float64, factor float64) float64 {
	if f == nil || factor == 0 {
		return factor
	}
	return f(factor)
}

func (p tiling) tileScores(k slip, i, br, from, to int) (scores []float64, largest float64) {
	dim := p.S.Dim
	largest = math.Inf(-1)
	for j := from; j < to; j++ {
		sees := p.S.Sees(i, j)
		if k.diagonal && p.S.Causal {
			sees = j-from <= i%br
		}
		if k.keys > 0 && j >= k.keys {
			sees = false
		}
		s := math.Inf(-1)
		if sees {
			s = 0
			for x := range dim {
				s += float64(p.Q[i*dim+x]) * float64(p.K[j*dim+x])
			}
			s /= math.Sqrt(float64(dim))
		}
		scores = append(scores, s)
		largest = math.Max(largest, s)
	}
	return scores, largest
}
