package task5

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/judge/judgetest"
	"flashlab/grader/grading/problem"
	"flashlab/tensor"
)

// writes makes the outputs of an update from a whole one.
func writes(p judgetest.Prepared, all []float32) (k, v []float32) {
	n := p.C.Cache().Elements()
	return all[:n], all[n:]
}

func TestUpdatePatterns(t *testing.T) {
	p := judgetest.Prepare(t, update, judge.Spec{Shape: []int{3, 12, 2, 5, 4}, Each: []int{1, 7, 3}, Dist: tensor.Normal}, 3)
	w := written{p.C, p.In[2].Data, p.In[3].Data, slices.Concat(p.In[0].Data, p.In[1].Data)}
	right := w.put(w.k, w.v, func(b, i int) (int, int) { return b, p.C.Each[b] + i })
	k, v := writes(p, right)
	assert.True(t, p.Judge(t, k, v).Passed)
	for _, l := range w.lookalikes() {
		k, v := writes(p, judge.Narrow(l.Whole()))
		p.Says(t, l.Says, k, v)
	}
	k, v = writes(p, judgetest.Changed(right, func(i int) bool { return i == 4 }))
	p.Says(t, "slots that no new token takes were changed: 1 elements, the first in slot 0 of sequence 0", k, v)
	k, v = writes(p, judgetest.Changed(right, func(i int) bool { return i == 14 }))
	p.Says(t, "1 of 720 elements are wrong, all in the slots of the new tokens", k, v)
	k, v = writes(p, judge.NoNumbers(len(right)))
	p.Says(t, "slots that no new token takes were changed", k, v)
}

func TestUpdateRefuses(t *testing.T) {
	p := judgetest.Prepare(t, update, judge.Spec{Shape: []int{2, 4, 1, 3, 2}, Each: []int{2, 3}, Dist: tensor.Normal, Refused: true}, 3)
	k, v := p.In[0].Data, p.In[1].Data
	assert.True(t, p.Answer(t, map[string]uint64{problem.Errors: 1}, k, v).Passed)
	assert.Contains(t, p.Answer(t, nil, k, v).Reason, "its new tokens would take the slots 3 to 4")
	assert.Contains(t, p.Answer(t, map[string]uint64{problem.Errors: 1}, judgetest.Changed(k, func(i int) bool { return i == 0 }), v).Reason, "had written 1 elements before")
}

func TestGenerate(t *testing.T) {
	p := judgetest.Prepare(t, generate, judge.Spec{Shape: []int{2, 4, 2, 5, 7, 6}, Dist: tensor.Normal}, 3)
	g := newGeneration(p.C, p.In)
	run := func(change func(t int, d *decoding) []float32) (out []float32) {
		for t := range 6 {
			d := g.step(t)
			out = append(out, change(t, &d)...)
		}
		return out
	}
	assert.True(t, p.Judge(t, run(func(_ int, d *decoding) []float32 { return exactly(*d) })).Passed)
	p.Says(t, "6 of 6 steps are wrong, the first one too: the newest token is missing", run(func(t int, d *decoding) []float32 {
		d.Lengths[0]--
		d.Lengths[1]--
		return exactly(*d)
	}))
	p.Says(t, "a recorded one is right the first time only", run(func(t int, d *decoding) []float32 {
		if t > 3 {
			d.Lengths = g.step(3).Lengths
		}
		return exactly(*d)
	}))
	p.Says(t, "step 1 is right, and those from step 2 on go wrong: query head h reads the wrong KV head", run(func(t int, d *decoding) []float32 {
		if t < 2 {
			return exactly(*d)
		}
		for _, m := range d.Mistakes() {
			if m.Says == "query head h reads the wrong KV head: h % KVHeads instead of h / (Heads / KVHeads)" {
				return judgetest.Shown(m)
			}
		}
		return exactly(*d)
	}))
	p.Says(t, "every element is 0", make([]float32, 6*g.size))
}
