package task5

import (
	"fmt"
	"slices"
	"strings"

	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
	"flashlab/grader/tasks/shared"
	"flashlab/tensor"
)

// update writes new tokens to a cache that is full of other numbers; each says
// where in each sequence.
var update = judge.Op{
	Name:  "update",
	Sizes: []string{"batch", "slots", "kvheads", "dim", "count"},
	Each:  "position",
	Tensors: func(c problem.Problem) (in, out []problem.Tensor) {
		s := c.Cache()
		cache, token := []int{s.Batch, s.MaxSeq, s.Slot()}, []int{s.Batch, c.Sizes["count"], s.Slot()}
		out = []problem.Tensor{{Name: "cache.K", Shape: cache}, {Name: "cache.V", Shape: cache}}
		return append(slices.Clone(out), problem.Tensor{Name: "k", Shape: token}, problem.Tensor{Name: "v", Shape: token}), out
	},
	Fault: updateFault,
	Judge: judgeUpdate,
	// The new tokens are read and written.
	Least: func(c problem.Problem) uint64 { return 2 * judge.Bytes(c.Inputs[2:]) },
}

func updateFault(c problem.Problem) string {
	slots, count := c.Sizes["slots"], c.Sizes["count"]
	for b, at := range c.Each {
		switch {
		case at < 0:
			return fmt.Sprintf("the position of sequence %d is %d", b, at)
		case at+count > slots:
			if count == 1 {
				return fmt.Sprintf("sequence %d has %d slots, and its new token would take slot %d", b, slots, at)
			}
			return fmt.Sprintf("sequence %d has %d slots, and its new tokens would take the slots %d to %d", b, slots, at, at+count-1)
		}
	}
	return ""
}

// written is a cache's k and v, one after the other, with new tokens at their
// places.
type written struct {
	c    problem.Problem
	k, v []float32 // of the tokens
	into []float32 // the cache before
}

// put copies the tokens into a copy of the cache: token i of sequence b goes to
// where slot says, if that is a slot.
func (w written) put(k, v []float32, slot func(b, i int) (sequence, slot int)) []float32 {
	s, count := w.c.Cache(), w.c.Sizes["count"]
	to := slices.Clone(w.into)
	for b := range s.Batch {
		for i := range count {
			sequence, slot := slot(b, i)
			if at := sequence*s.MaxSeq + slot; at >= 0 && at < s.Batch*s.MaxSeq {
				from := (b*count + i) * s.Slot()
				copy(to[at*s.Slot():], k[from:from+s.Slot()])
				copy(to[s.Elements()+at*s.Slot():], v[from:from+s.Slot()])
			}
		}
	}
	return to
}

func judgeUpdate(c problem.Problem, in []*tensor.Tensor, out problem.Answer) judge.Ruling {
	if c.Refused {
		return judge.JudgeRefused(c, out, "Update", updateFault(c), in[0].Data, in[1].Data)
	}
	w := written{c, in[2].Data, in[3].Data, slices.Concat(in[0].Data, in[1].Data)}
	want := w.put(w.k, w.v, func(b, i int) (int, int) { return b, c.Each[b] + i })
	got := slices.Concat(out.Tensors[0].Data, out.Tensors[1].Data)
	first, wrong := -1, 0
	for i := range want {
		if got[i] != want[i] { // true for NaN
			if wrong++; first < 0 {
				first = i
			}
		}
	}
	if wrong == 0 {
		return judge.Ruling{Passed: true}
	}
	n := c.Cache().Elements()
	which, at := first/n, tensor.Index(c.Outputs[0].Shape, first%n)
	v := judge.Ruling{Details: []string{
		fmt.Sprintf("%v, %d new tokens at %v, inputs %s", c.Cache(), c.Sizes["count"], c.Each, c.Dist),
		fmt.Sprintf("first at %s%s: got %s, want %s", c.Outputs[which].Name, strings.ReplaceAll(tensor.ShapeString(at), ", ", "]["), judge.Number(float64(got[first])), judge.Number(float64(want[first]))),
	}}
	v.Reason = w.reason(got, want, wrong)
	return v
}

// reason compares with the caches that known mistakes give.
func (w written) reason(got, want []float32, wrong int) string {
	if says := judge.Exactly(got, want, w.lookalikes()...); says != "" {
		return says
	}
	s, count := w.c.Cache(), w.c.Sizes["count"]
	strangers, first := 0, -1 // changes where no new token goes
	for i := range got {
		token := i % s.Elements() / s.Slot()
		slot := token%s.MaxSeq - w.c.Each[token/s.MaxSeq]
		if got[i] != w.into[i] && (slot < 0 || slot >= count) {
			if strangers++; first < 0 {
				first = token
			}
		}
	}
	if strangers > 0 {
		return fmt.Sprintf("slots that no new token takes were changed: %d elements, the first in slot %d of sequence %d", strangers, first%s.MaxSeq, first/s.MaxSeq)
	}
	return fmt.Sprintf("%d of %d elements are wrong, all in the slots of the new tokens", wrong, len(want))
}

func (w written) lookalikes() []judge.Mistake {
	at, s, count := w.c.Each, w.c.Cache(), w.c.Sizes["count"]
	shift := func(by int) []float32 {
		return w.put(w.k, w.v, func(b, i int) (int, int) { return b, at[b] + i + by })
	}
	right := func(b, i int) (int, int) { return b, at[b] + i }
	whole := w.put(w.k, w.v, right)
	half := func(k, v []float32) []float32 { return slices.Concat(k[:s.Elements()], v[s.Elements():]) }
	onlyFirst := func(b, i int) (int, int) {
		if i > 0 {
			return -1, -1
		}
		return right(b, i)
	}
	heads := func(x []float32) []float32 { // [count, heads, dim] taken for [heads, count, dim]
		return shared.JoinUp(x, s.Batch, count, s.KVHeads, s.Dim)
	}
	return []judge.Mistake{
		judge.Like(w.into, "nothing was written: the cache is as it was before the call"),
		judge.Like(shift(1), "each token is one slot too far: the position is that of the first new token, counted from 0"),
		judge.Like(shift(-1), "each token is one slot too early: the position is that of the first new token, counted from 0"),
		judge.Like(w.put(w.k, w.v, func(b, i int) (int, int) { return b, at[0] + i }), "all sequences are written at the position of the first: sequence b has its own, at[b]"),
		judge.Like(w.put(w.k, w.v, func(b, i int) (int, int) { return 0, at[b] + i }), "all sequences are written to the cache of the first: where does sequence b's begin?"),
		judge.Like(w.put(w.k, w.v, func(b, i int) (int, int) { return b, i }), "the tokens are written from slot 0 on: the position is ignored"),
		judge.Like(w.put(w.v, w.k, right), "K and V are swapped"),
		judge.Like(half(whole, w.into), "V is not written"),
		judge.Like(half(w.into, whole), "K is not written"),
		judge.Like(w.put(w.k, w.k, right), "V's slots hold the new keys"),
		judge.Like(w.put(w.k, w.v, onlyFirst), "only the first of a sequence's new tokens is written"),
		judge.Like(w.put(heads(w.k), heads(w.v), right), "the new tokens are read as [KVHeads, count, Dim]: they come as [count, KVHeads, Dim]"),
	}
}
