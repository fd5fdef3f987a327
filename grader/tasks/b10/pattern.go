package b10

import (
	"fmt"
	"math"

	"flashlab/grader/grading/judge"
)

// mistakes are what one of the gradients would be, if something was forgotten.
func (b backward) mistakes(which int) (all []judge.Mistake) {
	for _, m := range []struct {
		way
		says string
		of   [3]bool // whether it shows in dq, dk, dv
	}{
		{way{bare: true}, "P is exp(S): the saved log-sum-exp is left out, P = exp(S − lse)", [3]bool{true, true, true}},
		{way{raw: true}, "P is not normalised: the saved log-sum-exp makes it, P = exp(S − lse), where the row's largest score alone leaves its sum in", [3]bool{true, true, true}},
		{way{noD: true}, "D is forgotten: dS = P ∘ (dP − D), where D = rowsum(dOut ∘ out) is a number for each query", [3]bool{true, true, false}},
		{way{scaleDQ: true}, "the scale is forgotten in dq: dq = dS · k / √Dim", [3]bool{true, false, false}},
		{way{scaleDK: true}, "the scale is forgotten in dk: dk = dSᵀ · q / √Dim", [3]bool{false, true, false}},
		{way{unmasked: true}, "the mask is in the forward pass alone: a pair that it hides has a P of 0 here, too", [3]bool{true, true, true}},
		{way{headOnly: 1}, "only the first query head of each group counts: dk and dv are sums over all heads that read a key head", [3]bool{false, true, true}},
		{way{headOnly: 2}, "only the last query head of each group counts, which has overwritten the others': dk and dv are sums over all heads that read a key head", [3]bool{false, true, true}},
		{way{otherHead: true}, "query head h is read with key head h % KVHeads: it is h / (Heads / KVHeads)", [3]bool{true, true, true}},
		{way{noD: true, scaleDQ: true, scaleDK: true}, "D and the scale are forgotten: dS = P ∘ (dP − D), and dq and dk are multiplied by 1/√Dim", [3]bool{true, true, false}},
	} {
		if m.of[which] {
			all = append(all, judge.Wrong(func() []float64 { return b.compute(m.way).out[which] }, m.says))
		}
	}
	return all
}

// nan tells why numbers may be NaN, where some query sees no key.
func (b backward) nan(got []float32) string {
	blind := 0
	for _, l := range b.lse {
		if math.IsInf(float64(l), -1) {
			blind++
		}
	}
	if _, nan, _ := judge.Census(got); nan == 0 || blind == 0 {
		return ""
	}
	return fmt.Sprintf("NaN, and %d queries see no key: their lse is −Inf, and −Inf − −Inf is NaN. A pair that does not count has P = 0, whatever exp says", blind)
}
