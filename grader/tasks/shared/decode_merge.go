package shared

import (
	"fmt"

	"flashlab/attn"
	"flashlab/grader/grading/judge"
)

// merged are the mistakes of putting together what several threads, warps or blocks
// have made of their keys.
func (d Decoding) merged() []judge.Mistake {
	var list []judge.Mistake
	if d.Parts > 1 {
		const says = "combine without rescale: the parts' sums are added as they are, but each is relative to the largest score of its own part. Multiply each by exp(m_part - m_all) first"
		bySlots := (d.S.MaxSeq + d.Parts - 1) / d.Parts
		list = append(list,
			d.otherwise(Deviation{Part: runs(d.Parts)}, says),
			d.otherwise(Deviation{Part: func(j, _ int) int { return j / bySlots }}, says),
			d.otherwise(Deviation{Part: runs(d.Parts), Mean: true}, "the parts' results are averaged, but each has to count by the sum of its weights"),
			d.step(d.onlyPart(0), Deviation{}, "only the first part's keys are in the result"),
			d.step(d.onlyPart(d.Parts-1), Deviation{}, "only the last part's keys are in the result: do the parts overwrite each other?"),
		)
	}
	for _, n := range []int{2, 4, 8, 16, 32} {
		says := fmt.Sprintf("merge without rescale: %d groups of threads each have sums relative to a largest score of their own, and these are added as they are. Multiply each by exp(m_group - m_all) first", n)
		list = append(list,
			d.otherwise(Deviation{Part: runs(n)}, says),
			d.otherwise(Deviation{Part: func(j, _ int) int { return j % n }}, says))
	}
	return list
}

// runs shares keys out in n runs of equal length.
func runs(n int) func(j, keys int) int {
	return func(j, keys int) int { return j / ((keys + n - 1) / n) }
}

// onlyPart has the keys of one run of d.Parts.
func (d Decoding) onlyPart(part int) Rows {
	return d.reads(func(b, h int) (int, int, int, int) {
		n := d.Lengths[b]
		run := (n + d.Parts - 1) / d.Parts
		return b, h / (d.S.Heads / d.S.KVHeads), min(part*run, n), min((part+1)*run, n)
	})
}

// nan looks at which sequences have NaN: those with stale slots, those with fewer
// keys than parts, or others.
func (d Decoding) nan(got []float32) string {
	_, all, _ := judge.Census(got)
	if all == 0 {
		return ""
	}
	width := d.S.Heads * d.S.Dim
	stale, empty := true, d.Parts > 1 // do these explain where NaN is?
	for b, n := range d.Lengths {
		_, nan, _ := judge.Census(got[b*width : (b+1)*width])
		stale = stale && (nan > 0) == (n < d.S.MaxSeq)
		run := (n + max(d.Parts, 1) - 1) / max(d.Parts, 1)
		empty = empty && (nan > 0) == (n <= (d.Parts-1)*run)
	}
	const (
		unfilled = "stale slots beyond the length are read: there is NaN in the sequences that do not fill the cache. Such slots hold NaN here, and 0 · NaN is NaN. Read the slots 0 … lengths[b] − 1 only"
		nobody   = "NaN where a part has no key: its largest score is -Inf, and -Inf minus -Inf is NaN. Leave such a part out of the sum"
	)
	switch {
	case stale && empty:
		return unfilled + "; or " + nobody
	case empty:
		return nobody
	case stale:
		return unfilled
	case AttentionInputs{S: attn.Shape{Dim: d.S.Dim}, Q: d.Q}.Overflows():
		return judge.NotNumbers(all) + ": did exp overflow? Subtract the largest score first"
	case all == len(got):
		return allNaN
	}
	return ""
}
