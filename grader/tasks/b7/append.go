package b7

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
	"flashlab/grader/tasks/shared"
	"flashlab/tensor"
)

// appendOp adds tokens, one after the other, to a cache that is full of other numbers. each says how
// many tokens a sequence has before.
func appendOp(bits int) judge.Op {
	method := fmt.Sprintf("AppendInt%d", bits)
	return judge.Op{
		Name:  fmt.Sprintf("append_int%d", bits),
		Sizes: []string{"batch", "kvheads", "slots", "dim", "count"},
		Each:  "length",
		Rules: shared.AttentionRules,
		Tensors: func(c problem.Problem) (in, out []problem.Tensor) {
			s := c.Cache()
			out = tensors(bits, s)
			in = slices.Clone(out)
			for i := range in {
				in[i].Dist = tensor.Normal
			}
			token := []int{c.Sizes["count"], s.Batch, s.KVHeads, s.Dim}
			return append(in, problem.Tensor{Name: "k", Shape: token, Given: true, Type: tensor.Float16},
				problem.Tensor{Name: "v", Shape: token, Given: true, Type: tensor.Float16}), out
		},
		Fault:   func(c problem.Problem) string { return fault(c, c.Sizes["count"]) },
		Prepare: func(c problem.Problem, in []*tensor.Tensor) error { return tokens(c, in[count(bits):]) },
		Judge: func(c problem.Problem, in []*tensor.Tensor, out problem.Answer) judge.Ruling {
			a := adding{c, cacheOf(bits, c.Cache(), in), in[count(bits)].Data, in[count(bits)+1].Data}
			if c.Refused {
				var before [][]float32
				for _, x := range in[:count(bits)] {
					before = append(before, x.Data)
				}
				return judge.JudgeRefused(c, out, method, fault(c, c.Sizes["count"]), before...)
			}
			return a.judge(cacheOf(bits, c.Cache(), out.Tensors))
		},
		// New tokens are read, and written in fewer bits; what a group's end reads again is left out.
		Least: func(c problem.Problem) uint64 { return judge.Bytes(c.Inputs[count(bits):]) },
	}
}

// tokens makes keys and values. Channel 3 of 16 keys is far from 0, as models have such. A case of
// numbers of many sizes has what is rare as well: tokens of zeros, equal numbers, an infinity, a NaN.
func tokens(c problem.Problem, kv []*tensor.Tensor) error {
	dim := c.Sizes["dim"]
	for i, t := range kv {
		if err := tensor.FillAs(t.Type, t.Data, c.Dist, c.Seed, c.Inputs[len(c.Inputs)-2+i].Stream, 0); err != nil {
			return err
		}
		for at := range t.Data {
			switch token := at / dim; {
			case c.Dist != tensor.Uneven:
				if i == 0 && at%16 == 3 && c.Dist == tensor.Normal {
					t.Data[at] += 12
				}
			case token%11 == 2:
				t.Data[at] = 0
			case token%11 == 5:
				t.Data[at] = 1.5
			case token%37 == 9 && at%dim == 7:
				t.Data[at] = float32(math.Inf(1 - 2*i))
			case token%37 == 20 && at%dim == 40:
				t.Data[at] = float32(math.NaN())
			}
		}
		tensor.Float16.Round(t.Data)
	}
	return nil
}

// adding is a case with its inputs.
type adding struct {
	problem.Problem
	before cache
	k, v   []float32 // [count, batch, kvheads, dim]
}

// written is the cache after the call, and under what a mistake would make of it.
func (a adding) written(w way) cache {
	c, size := a.before.clone(), a.Cache().Slot()
	for i := range a.Sizes["count"] {
		for b, length := range a.Each {
			if w.first {
				length = a.Each[0]
			}
			from := (i*a.Cache().Batch + b) * size
			c.append(b, length+i, a.k[from:from+size], a.v[from:from+size], w)
		}
	}
	return c
}

// same: to the bit, but for the sign of a zero and the bits of a NaN.
func same(a, b []float32) bool {
	for i, x := range a {
		if x != b[i] && (x == x || b[i] == b[i]) {
			return false
		}
	}
	return true
}

func (a adding) judge(got cache) judge.Ruling {
	want := a.written(way{})
	x, y, z := got.all(), want.all(), a.before.all()
	wrong, strangers, first := 0, 0, -1
	for i := range x {
		if same(x[i:i+1], y[i:i+1]) {
			continue
		}
		if wrong++; first < 0 {
			first = i
		}
		if same(y[i:i+1], z[i:i+1]) {
			strangers++
		}
	}
	if wrong == 0 {
		return judge.Ruling{Passed: true}
	}
	r := judge.Ruling{Reason: judge.Exactly(x, y, a.mistakes()...), Details: []string{
		fmt.Sprintf("INT%d, %v, %d new tokens behind lengths %v, inputs %s", want.bits, a.Cache(), a.Sizes["count"], a.Each, a.Dist),
		a.place(first, x[first], y[first]),
	}}
	switch {
	case r.Reason != "":
	case same(x, z):
		r.Reason = "nothing was written: the cache is as it was before the call"
	case strangers > 0:
		r.Reason = fmt.Sprintf("%d numbers were changed that belong to no new token or full group", strangers)
	default:
		r.Reason = fmt.Sprintf("%d numbers are wrong, by a bit at least: %s", wrong, strings.Join(a.parts(x, y), ", "))
	}
	return r
}

// place tells where a number is.
func (a adding) place(at int, got, want float32) string {
	for _, t := range a.Outputs {
		if at < t.Elements() {
			where := strings.ReplaceAll(tensor.ShapeString(tensor.Index(t.Shape, at)), ", ", "][")
			return fmt.Sprintf("first at %s%s: got %s, want %s", t.Name, where, judge.Number(float64(got)), judge.Number(float64(want)))
		}
		at -= t.Elements()
	}
	return ""
}

// parts says of each array how many of its numbers are wrong.
func (a adding) parts(got, want []float32) (all []string) {
	at := 0
	for _, t := range a.Outputs {
		wrong := 0
		for i := at; i < at+t.Elements(); i++ {
			if !same(got[i:i+1], want[i:i+1]) {
				wrong++
			}
		}
		if at += t.Elements(); wrong > 0 {
			all = append(all, fmt.Sprintf("%d of %s", wrong, t.Name))
		}
	}
	return all
}

// mistakes are those of writing.
func (a adding) mistakes() []judge.Mistake {
	as := func(w way, says string) judge.Mistake {
		return judge.Wrong(func() []float64 { return judge.Wide(a.written(w).all()) }, says)
	}
	return []judge.Mistake{
		as(way{swapped: true}, "nibbles are swapped: the first of two codes is in the byte's low half"),
		as(way{early: true}, "a group's scale is that of its first 31 tokens: it was taken before the group was full"),
		as(way{byToken: true}, "K is quantised by token, as V is: each channel of K has a scale of its own"),
		as(way{atOnce: true}, "K is quantised by token, as V is, and no group is ever open: each channel of K has a scale of its own, of a group's 32 tokens"),
		as(way{cut: true}, "codes are cut off: round to the nearest, of two to the even one"),
		as(way{nearest: true}, "scales are rounded to the nearest half: round towards zero, so that no number grows"),
		as(way{raw: true}, "codes are made with the scale in float32: divide by the half that the cache keeps"),
		as(way{from0: true}, "the low is not taken off before the division: code = (number − low) / scale"),
		as(way{shift: 1}, "each token is one slot too far: a sequence's new token takes slot lengths[b]"),
		as(way{shift: -1}, "each token is one slot too early: a sequence's new token takes slot lengths[b]"),
		as(way{first: true}, "all sequences are written as if they were as long as the first: sequence b has its own length"),
		as(way{pair0: true}, "all tokens are written to the first head of the first sequence"),
		as(way{exchange: true}, "K and V are swapped"),
	}
}
