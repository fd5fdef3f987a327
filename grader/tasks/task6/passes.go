package task6

import (
	"fmt"

	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
)

// Passes is an output from several passes of a model or a layer, one
// after another: its rows are those of the first sequence, part by part, then
// those of the next sequence.
type Passes struct {
	problem.Problem
	About fmt.Stringer
	Truth judge.Truth
	Got   []float32
	Calls map[string]uint64 // that the layers made
	Parts []Part
	// Try computes the output with a mistake in every layer, which may depend on
	// the length of the prompt.
	Try func(slip func(prompt int) Slip) []float64
	// mergesInto says that a result could be taken for the output.
	mergesInto bool
	// strict marks the choice of the kernel, too.
	strict bool
}

// Part is a prompt, or the steps after it.
type Part struct {
	Rows   int
	Prompt bool
}

// nearly is an error that is no mistake of a layer's, but of rounding.
const nearly = 1e-2

func (p Passes) Judge() judge.Ruling {
	j := p.Truth.Judge(p.Got)
	misused := p.misused()
	if j.Passed {
		if p.strict && len(misused) > 0 {
			return judge.Ruling{Reason: "the values are right, but " + misused[0]}
		}
		return judge.Ruling{Passed: true}
	}
	reasons := append(p.ownWay(), p.never()...)
	reasons = append(reasons, p.mistakes(j)...)
	reasons = append(reasons, p.wrongCalls()...)
	reasons = append(reasons, misused...)
	if len(reasons) == 0 && j.Error >= nearly {
		reasons = p.where(j.Bound)
	}
	if len(reasons) == 0 {
		reasons = []string{judge.General(p.Truth, p.Got, j)}
	}
	v := judge.Explain(p.Problem, p.About, j, reasons[0])
	for _, also := range reasons[1:] {
		v.Details = append(v.Details, "and "+also)
	}
	return v
}

// mistakes are those whose output this is.
func (p Passes) mistakes(j judge.Judgement) []string {
	if judge.AllZero(p.Got) {
		return []string{"every element is 0"}
	}
	if says := p.Truth.Recognise(p.Got, j, p.slips()...); says != "" {
		return []string{says}
	}
	return nil
}

// where tells which pass is the first to be wrong.
func (p Passes) where(bound float64) []string {
	per := 0
	for _, part := range p.Parts {
		per += part.Rows
	}
	wrong := make([]bool, per) // in any sequence
	var sequences []int        // that are wrong
	batch := p.Truth.Rows() / per
	for b := range batch {
		bad := false
		for i := range per {
			if !(p.Truth.RowError(p.Got, b*per+i) <= bound) {
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

func (p Passes) whereOf(first int, wrong []bool) string {
	for n, part := range p.Parts {
		if first >= part.Rows {
			first -= part.Rows
			continue
		}
		switch {
		case n >= 2:
			return "the first sequence is right, the second, in the same cache after Reset, is not: it sees another sequence's cache, or the layer counts tokens itself instead of reading s.Before and s.After"
		case part.Prompt && first > 0:
			return fmt.Sprintf("the prompt is wrong from its token %d on (counted from 0)", first)
		case part.Prompt && part.Rows > 1 && !allOf(wrong[:part.Rows]):
			return "the prompt's last token is right, and earlier ones are wrong: is the mask missing in the prefill (Causal)?"
		case part.Prompt:
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
