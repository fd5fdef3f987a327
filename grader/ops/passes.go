package ops

import (
	"fmt"

	"flashlab/grader/oracle"
	"flashlab/grader/wire"
)

// passes is an output that came of several passes of a model or a layer, one
// after another: its rows are those of the first sequence, part by part, then
// those of the next sequence.
type passes struct {
	wire.Case
	problem fmt.Stringer
	truth   oracle.Truth
	got     []float32
	calls   map[string]uint64 // that the layers made
	parts   []part
	// try computes the output with a mistake in every layer, as it hangs on
	// the length of the prompt.
	try func(slip func(prompt int) oracle.Slip) []float64
	// mergesInto says that a result could be taken for the output.
	mergesInto bool
	// strict marks the choice of the kernel, too.
	strict bool
}

// part is a prompt, or the steps after it.
type part struct {
	rows   int
	prompt bool
}

// nearly is an error that is no mistake of a layer's, but of rounding.
const nearly = 1e-2

func (p passes) judge() Verdict {
	j := p.truth.Judge(p.got)
	misused := p.misused()
	if j.Passed {
		switch {
		case p.ownWay() != "":
			return Verdict{Reason: "the values are right, but " + p.ownWay()}
		case p.strict && len(misused) > 0:
			return Verdict{Reason: "the values are right, but " + misused[0]}
		}
		return Verdict{Passed: true}
	}
	reasons := append(p.never(), p.mistakes()...)
	reasons = append(reasons, p.wrongCalls()...)
	reasons = append(reasons, misused...)
	if len(reasons) == 0 && j.Error >= nearly {
		reasons = p.where(j.Bound)
	}
	if len(reasons) == 0 {
		reasons = []string{general(p.truth, p.got, j)}
	}
	v := explain(p.Case, p.problem, j, reasons[0])
	for _, also := range reasons[1:] {
		v.Details = append(v.Details, "and "+also)
	}
	return v
}

// mistakes are those whose output this is.
func (p passes) mistakes() []string {
	if allZero(p.got) {
		return []string{"every element is 0"}
	}
	right := p.truth.Want
	for _, m := range p.slips() {
		want := p.try(m.slip)
		if !p.truth.Same(narrowed(right), want) && p.truth.Same(p.got, want) {
			return []string{m.says}
		}
	}
	return nil
}

func narrowed(x []float64) []float32 {
	y := make([]float32, len(x))
	for i, v := range x {
		y[i] = float32(v)
	}
	return y
}

// where tells which pass is the first to be wrong.
func (p passes) where(bound float64) []string {
	per := 0
	for _, part := range p.parts {
		per += part.rows
	}
	wrong := make([]bool, per) // in any sequence
	var sequences []int        // that are wrong
	batch := p.truth.Rows() / per
	for b := range batch {
		bad := false
		for i := range per {
			if !(p.truth.RowError(p.got, b*per+i) <= bound) {
				wrong[i], bad = true, true
			}
		}
		if bad {
			sequences = append(sequences, b)
		}
	}
	first := 0
	for ; first < per && !wrong[first]; first++ {
	}
	if first == per {
		return nil
	}
	text := p.whereOf(first, wrong)
	if batch > 1 && len(sequences) > 0 && sequences[0] > 0 {
		text += fmt.Sprintf("; only sequences from %d on are wrong (counted from 0): does each start where the batch's shape says?", sequences[0])
	}
	return []string{text}
}

func (p passes) whereOf(first int, wrong []bool) string {
	for n, part := range p.parts {
		if first >= part.rows {
			first -= part.rows
			continue
		}
		switch {
		case n >= 2:
			return "the first sequence is right, the second, in the same cache after Reset, is not: it sees another sequence's cache, or the layer counts tokens by itself instead of reading s.Before and s.After"
		case part.prompt && first > 0:
			return fmt.Sprintf("the prompt is wrong from its token %d on (counted from 0)", first)
		case part.prompt && part.rows > 1 && !allOf(wrong[:part.rows]):
			return "the prompt's last token is right, and earlier ones are wrong: is the mask missing in the prefill (Causal)?"
		case part.prompt:
			return "the prompt is wrong already"
		case first == 0:
			return "the prompt is right, the first decoded token is not: is the cache updated, in the prompt too, before it is read?"
		case first == 1:
			return "off from the second decoded step: does each step's token go into its own slot of the cache, s.Before?"
		default:
			return fmt.Sprintf("the prompt and %d steps are right, step %d is not (counted from 0)", first, first)
		}
	}
	return ""
}

func allOf(x []bool) bool {
	for _, v := range x {
		if !v {
			return false
		}
	}
	return true
}
