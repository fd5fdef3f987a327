package b9

import (
	"fmt"

	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
	"flashlab/grader/tasks/b9/sizes"
	"flashlab/nn/kit"
	"flashlab/tensor"
)

// decoding is a case with its model and tokens.
type decoding struct {
	problem.Problem
	*model
	tokens [][]int // [batch][steps]
}

func newDecoding(c problem.Problem, in []*tensor.Tensor) (*decoding, error) {
	m, err := newModel(sizes.Config(c), sizes.Of(c), c.Seed)
	d := &decoding{Problem: c, model: m}
	all, steps := problem.Tokens(in[0].Data, c.Sizes["vocabulary"]), c.Sizes["steps"]
	for b := range c.Sizes["batch"] {
		d.tokens = append(d.tokens, all[b*steps:(b+1)*steps])
	}
	return d, err
}

func (d *decoding) String() string {
	return fmt.Sprintf("%v; %d layers, hidden %d, heads %d/%d × %d, MLP %d, vocabulary %d, batch %d, %d steps, of which sequences keep %v",
		d.way, d.Layers, d.Hidden, d.Heads, d.KVHeads, d.Dim, d.MLP, d.Vocabulary, d.Batch, d.steps(), d.Each)
}

func (d *decoding) steps() int { return d.Sizes["steps"] }

// logits computes all sequences [batch, steps, vocabulary].
func logits[T real](d *decoding, s slip) (all []T) {
	for b, tokens := range d.tokens {
		if s.neighbour {
			tokens = d.tokens[0]
		}
		for _, row := range sequence[T](d.model, tokens, d.steps()-d.Each[b], s) {
			all = append(all, row...)
		}
	}
	return all
}

// truth allows for a number that is rounded the other way: a half next to two, or a code.
func (d *decoding) truth() judge.Truth {
	t := judge.Truth{Layout: judge.Layout{Outer: d.Batch * d.steps(), Len: d.Vocabulary, Inner: 1},
		Want: logits[float64](d, slip{}), Plain: logits[float32](d, slip{}),
		Least: 1e-3, Because: "halves that are rounded the other way"}
	if d.way.KIVI {
		t.Least, t.Because = 0.05, "codes that are rounded the other way"
	}
	return t
}

func judgeModel(c problem.Problem, in []*tensor.Tensor, out problem.Answer) judge.Ruling {
	d, err := newDecoding(c, in)
	if err != nil {
		return judge.Ruling{Reason: err.Error()}
	}
	t, got := d.truth(), out.Tensors[0].Data
	return judge.Rule(c, d, t, got, func(j judge.Judgement) string {
		if says := t.RecogniseAll(got, j, d.slips()...); says != "" {
			return says
		}
		return d.where(t, got, j.Bound)
	})
}

// slips are known mistakes.
func (d *decoding) slips() (all []judge.Mistake) {
	for _, l := range []struct {
		slip
		says string
		can  bool
	}{
		{slip{noFirst: true}, "what attention gives replaces the residual stream: it is added to x, which goes on", true},
		{slip{noSecond: true}, "what the MLP gives replaces the residual stream: it is added to x, which goes on", true},
		{slip{firstNorms: true}, "every layer has the norms of layer 0", d.Layers > 1},
		{slip{exchanged: true}, "the two norms of each layer are exchanged: Norm1 is before attention, Norm2 before the MLP", true},
		{slip{noLast: true}, "the norm before the head is missing", true},
		{slip{oneCache: true}, "all layers write to one cache: each has its own", d.Layers > 1},
		{slip{unrotated: true}, "queries and keys are not rotated", true},
		{slip{neighbour: true}, "every sequence got the tokens of sequence 0", d.Batch > 1},
		{slip{still: true}, "from the recorded step on every token has the same position: lengths are read on the host", d.Op == replayedName},
		{slip{halfWeights: true}, "these are the results of weights in halves: QKV, Out, GateUp and Down have four bits here", d.way.INT4},
		{slip{halfCache: true}, "these are the results of a cache in halves: it has four bits here", d.way.KIVI},
		{slip{openToo: true}, "the newest tokens are read as if they had four bits, too: those of the open group are halves", d.way.KIVI},
	} {
		if l.can {
			all = append(all, judge.Wrong(func() []float64 { return logits[float64](d, l.slip) }, l.says))
		}
	}
	return all
}

// where looks at which steps are wrong.
func (d *decoding) where(t judge.Truth, got []float32, bound float64) string {
	var firstWrong, early, late, full, fresh, others, wrong int
	firstWrong = d.steps()
	for b := range d.Batch {
		begins := d.steps() - d.Each[b]
		for i := range d.steps() {
			if t.RowError(got, b*d.steps()+i) <= bound {
				continue
			}
			position := i
			if i >= begins {
				position = i - begins
			}
			wrong++
			firstWrong = min(firstWrong, i)
			count(&early, i < sizes.Recorded)
			count(&late, i >= sizes.Recorded)
			count(&full, position+1 >= kit.CacheGroup)
			count(&fresh, begins > 0 && i >= begins)
			count(&others, b > 0)
		}
	}
	switch {
	case d.way.KIVI && full == wrong:
		return fmt.Sprintf("right as long as a sequence has fewer than %d tokens, wrong from its first full group on: Close belongs into every step, recorded ones too, between AppendOpen and AttendKivi", kit.CacheGroup)
	case d.Op == replayedName && early == 0 && firstWrong <= sizes.Recorded+1:
		return "right until the step was recorded, wrong when it is replayed: something in it does not come from tokens and lengths on the device"
	case fresh == wrong:
		return "wrong only where a sequence has begun anew, with a length of 0: what it had before is still there"
	case d.Batch > 1 && others == wrong:
		return "sequence 0 is right, and others are not"
	case firstWrong > 0:
		return fmt.Sprintf("the first %d tokens are right, and later ones are not: look at what a step reads of those before it", firstWrong)
	}
	return ""
}

func count(n *int, is bool) {
	if is {
		*n++
	}
}
