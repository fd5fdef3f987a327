package shared

import (
	"fmt"
	"math"

	"flashlab/attn"
	"flashlab/grader/grading/judge"
)

// AttentionInputs is an attention with its inputs.
type AttentionInputs struct {
	S       attn.Shape
	Q, K, V []float32
	Whole   bool // computed in whole rows of scores: there are no tiles of keys
}

// AttentionOn is the attention of these inputs.
func AttentionOn(s attn.Shape, q, k, v []float32) AttentionInputs {
	return AttentionInputs{S: s, Q: q, K: k, V: v}
}

// mistake is that of computing an attention otherwise, row by row.
func (p AttentionInputs) mistake(c Deviation, says string) judge.Mistake {
	return judge.Mistake{Says: says, Out: func(yield func([]float64) bool) {
		s := p.S
		c := c
		c.fill(p.K, p.V, s)
		shares, sizes := make([]float64, s.SeqK), make([]float64, s.SeqK)
		for row := range s.QElements() / s.Dim {
			y, keys := make([]float64, s.Dim), keysOf(s, row)
			if c.weights(shares, sizes, p.Q[row*s.Dim:(row+1)*s.Dim], keys, row%s.SeqQ, s) {
				c.mix(y, shares, keys)
			}
			if !yield(y) {
				return
			}
		}
	}}
}

// Pattern compares with the attentions that one computes by mistake, then looks
// at where an output is wrong.
func (p AttentionInputs) Pattern(t judge.Truth, got []float32, j judge.Judgement) string {
	if why := p.nan(got); why != "" {
		return why
	}
	if says := t.Recognise(got, j, p.mistakes()...); says != "" {
		return says
	}
	if why := p.multiples(t, got); why != "" || t.LikeRounding(got, j) {
		return why
	}
	rows := judge.WrongRows(t, got, j.Bound)
	if judge.FirstOnly(rows, p.S.Batch*p.S.Heads) {
		return "the first head is right, the others are not: where does head h of q, k, v and out start? (SeqQ and SeqK may differ)"
	}
	wrong := AnyBatch(rows, p.S.SeqQ)
	if p.S.Causal {
		if wrong[0] && !wrong[p.S.SeqQ-1] {
			return "the last query, which sees every key, is right, and others are wrong: only where the key lies after the query. Look at the causal mask"
		}
	}
	return judge.Edge(wrong, "query row")
}

// multiples recognises rows that are right but for a factor: what they are divided by is wrong.
func (p AttentionInputs) multiples(t judge.Truth, got []float32) string {
	if p.S.Dim < 8 {
		return ""
	}
	var off, left, most, at float64 // squares of the error, and of what factors leave of it
	for row := range len(got) / p.S.Dim {
		var product, size float64
		for i := row * p.S.Dim; i < (row+1)*p.S.Dim; i++ {
			product, size = product+float64(got[i])*t.Want[i], size+t.Want[i]*t.Want[i]
		}
		factor := product / max(size, math.SmallestNonzeroFloat64)
		if size > 0 && !(factor > 0) {
			return "" // a row of zeros saw nothing: no divisor makes it that
		}
		for i := row * p.S.Dim; i < (row+1)*p.S.Dim; i++ {
			whole, rest := float64(got[i])-t.Want[i], float64(got[i])-factor*t.Want[i]
			off, left = off+whole*whole, left+rest*rest
		}
		if d := math.Abs(factor - 1); d > most {
			most, at = d, factor
		}
	}
	if !(left < 1e-4*off) {
		return ""
	}
	return fmt.Sprintf("the rows are right but for a factor (one is %.4g of what it should be): the sum that a row is divided by is wrong. Is a key counted twice, or one that is not there?", at)
}

// nan looks at rows with NaN.
func (p AttentionInputs) nan(got []float32) string {
	_, nan, _ := judge.Census(got)
	if nan == 0 {
		return ""
	}
	blind, seeing := 0, 0 // rows with NaN, by whether they see any key
	for row := range len(got) / p.S.Dim {
		_, n, _ := judge.Census(got[row*p.S.Dim : (row+1)*p.S.Dim])
		switch {
		case n == 0:
		case p.S.SeqK-p.S.SeqQ+row%p.S.SeqQ >= 0 || !p.S.Causal:
			seeing++
		default:
			blind++
		}
	}
	switch {
	case p.S.Causal && infinite(got):
		return "some elements are infinite: have masked scores (-Inf) reached the product with v? The causal mask comes before the softmax"
	case seeing == 0:
		return fmt.Sprintf("NaN from a row masked entirely, in %d rows: a query that sees no key gets zeros (-Inf minus -Inf is NaN, and so is 0 / 0)", blind)
	case p.S.Causal && seeing < len(got)/p.S.Dim && (p.Whole || p.S.SeqK <= judge.Tiles[len(judge.Tiles)-1]):
		return judge.NotNumbers(nan) + ", in rows that see some key: where does a masked score (-Inf) meet another one? -Inf minus -Inf is NaN, and so is 0 · -Inf"
	case p.S.Causal && seeing < len(got)/p.S.Dim:
		return judge.NotNumbers(nan) + ": how do you handle a row of which a tile masks everything? Its maximum is still -Inf, and -Inf minus -Inf is NaN"
	case p.Overflows():
		return judge.NotNumbers(nan) + ": did exp overflow? Subtract the row's maximum first, and begin it at -Inf or a score, not at 0"
	case nan == len(got):
		return allNaN
	}
	return ""
}

// allNaN is said of an attention without a number in it: what makes NaN of the first key, or of none.
const allNaN = "every element is NaN. Before the first key m is -Inf and l is 0: is -Inf subtracted from -Inf, or the factor exp(m_old - m_new) inverted, which makes it infinite? Or is no key read, which leaves 0 / 0?"

func infinite(got []float32) bool {
	for _, v := range got {
		if math.IsInf(float64(v), 0) {
			return true
		}
	}
	return false
}

// Overflows tells whether some score is beyond what exp can take.
func (p AttentionInputs) Overflows() bool {
	for i := 0; i < len(p.Q); i += p.S.Dim {
		var square float64
		for _, x := range p.Q[i : i+p.S.Dim] {
			square += float64(x) * float64(x)
		}
		// A score has about the size of |q|, k being normal.
		if math.Sqrt(square) > 60*math.Sqrt(float64(p.S.Dim)) {
			return true
		}
	}
	return false
}

// mistakes are those of any attention.
func (p AttentionInputs) mistakes() []judge.Mistake {
	list := append(scales(p.mistake),
		p.mistake(Deviation{Values: p.K}, "V is confused with K: the weighted sum is of k and should be of v. This is softmax(q·kᵀ/√d)·k"),
		p.mistake(Deviation{Keys: p.V}, "K is confused with V: the scores are of v and should be of k. This is softmax(q·vᵀ/√d)·v"),
		p.mistake(Deviation{Keys: p.V, Values: p.K}, "k and v are exchanged: this is softmax(q·vᵀ/√d)·k. Compare the launch's arguments with the kernel's parameters"),
		p.mistake(Deviation{Undivided: true}, "the rows are never divided by the sum of their weights, l: divide a row's sum of exp(score - m) · v by its sum of exp(score - m)"))
	if p.S.SeqQ == p.S.SeqK {
		list = append(list, AttentionOn(p.S, p.K, p.Q, p.V).mistake(Deviation{},
			"q and k are exchanged: this is softmax(k·qᵀ/√d)·v. Compare the launch's arguments with the kernel's parameters"))
	}
	if p.S.Window > 0 {
		list = append(list, p.windows()...)
	}
	if p.S.Causal {
		list = append(list, p.masks()...)
	} else {
		list = append(list,
			p.mistake(Deviation{Sees: func(s attn.Shape, i, j int) bool { return j <= i+s.SeqK-s.SeqQ }},
				"the causal mask is applied where none is asked for"),
			p.mistake(Deviation{Sees: func(s attn.Shape, i, j int) bool { return j <= i }},
				"a causal mask is applied where none is asked for"),
		)
	}
	list = append(list, p.mistake(Deviation{Sees: func(s attn.Shape, i, j int) bool { return j < s.SeqK-1 && s.Sees(i, j) }},
		"the last key is missing: does a loop end one too early, or is the last tile dropped?"))
	for _, tile := range judge.Tiles {
		if cut := (p.S.SeqK - 1) / tile * tile; cut > 0 && cut < p.S.SeqK-1 {
			list = append(list, p.mistake(Deviation{Sees: func(s attn.Shape, i, j int) bool { return j < cut && s.Sees(i, j) }},
				fmt.Sprintf("the keys from %d on are missing: is the last tile of keys dropped?", cut)))
		}
		if extra := beyond(p.S.SeqK, tile); padsMore(p.S.SeqK, tile) {
			list = append(list, p.mistake(Deviation{Pad: tile},
				fmt.Sprintf("keys beyond SeqK are counted with score 0: %d of them, up to a multiple of %d, and each adds e^0 to a row's sum. Their scores are -Inf", extra, tile)))
		}
		if tile < p.S.SeqK {
			list = append(list, rescaled(p.mistake, tile)...)
		}
	}
	return list
}

// scales are the wrong factors of scores. make makes a mistake of doing one thing otherwise.
func scales(make func(Deviation, string) judge.Mistake) []judge.Mistake {
	return []judge.Mistake{
		make(Deviation{Scale: func(int) float64 { return 1 }}, "the scores are off by a factor √d: they are not divided by it"),
		make(Deviation{Scale: func(dim int) float64 { return 1 / float64(dim) }}, "the scores are off by a factor √d: they are divided by d instead of its root"),
		make(Deviation{Scale: func(dim int) float64 { return math.Sqrt(float64(dim)) }}, "the scores are off by a factor d: they are multiplied by √d instead of divided"),
	}
}

// rescaled are the mistakes of an online softmax over tiles of so many keys.
func rescaled(make func(Deviation, string) judge.Mistake, tile int) []judge.Mistake {
	forgets := fmt.Sprintf("this is an online softmax over tiles of %d keys that forgets to rescale the ", tile) + "%s when the maximum grows: multiply it by exp(m_old - m_new)"
	return []judge.Mistake{
		make(Deviation{Forget: tile}, fmt.Sprintf(forgets, "accumulator")),
		make(Deviation{ForgetSum: tile}, fmt.Sprintf(forgets, "sum")),
	}
}

// beyond is how many keys the last tile lacks.
func beyond(keys, tile int) int { return -keys & (tile - 1) }

// padsMore tells whether a last tile lacks more keys than one half as large does.
func padsMore(keys, tile int) bool {
	smallest := judge.Tiles[len(judge.Tiles)-1]
	return beyond(keys, tile) > 0 && (tile == smallest || beyond(keys, tile) > beyond(keys, tile/2))
}

// masks are the causal masks that one writes by mistake.
func (p AttentionInputs) masks() []judge.Mistake {
	// seen is a mask beside the window, if there is one.
	seen := func(sees func(s attn.Shape, i, j int) bool) Deviation {
		return Deviation{Sees: func(s attn.Shape, i, j int) bool {
			return sees(s, i, j) && (s.Window == 0 || j > i+s.SeqK-s.SeqQ-s.Window)
		}}
	}
	return []judge.Mistake{
		p.mistake(seen(func(attn.Shape, int, int) bool { return true }),
			"wrong only where the key lies after the query: the causal mask is not applied"),
		p.mistake(seen(func(s attn.Shape, i, j int) bool { return j < i+s.SeqK-s.SeqQ }),
			"the causal mask is off by one: a query must see its own key as well, and here it does not. Query i sees keys 0 … i + SeqK − SeqQ"),
		p.mistake(seen(func(s attn.Shape, i, j int) bool { return j <= i+s.SeqK-s.SeqQ+1 }),
			"the causal mask is off by one: a query sees one key too many. Query i sees keys 0 … i + SeqK − SeqQ"),
		p.mistake(seen(func(s attn.Shape, i, j int) bool { return j <= i }),
			"the causal mask starts at the wrong corner: query i sees keys 0 … i + SeqK − SeqQ"),
		p.mistake(Deviation{Late: true},
			"wrong only where keys lie after the query: the causal mask comes after the softmax, so masked keys still take their share of 1. Mask the scores first"),
	}
}
