package b4

import (
	"fmt"
	"math"

	"flashlab/attn"
	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
	"flashlab/grader/tasks/shared"
	"flashlab/tensor"
)

// attention is the layer: q, k and v of x, and the attention of these, by a kernel that is given. The
// function of the same name writes the same to a second output.
func attention() judge.Op {
	ty := tensor.Float16
	return judge.Op{
		Name:   "qkv_attention",
		Sizes:  []string{"batch", "seq", "hidden", "heads", "kvheads", "dim", "bias"},
		Causal: true,
		Rules: func(c problem.Problem) error {
			if c.Sizes["bias"] > withBias {
				return fmt.Errorf("bias is 1 (none) or 2: not %d", c.Sizes["bias"])
			}
			return nil
		},
		Tensors: func(c problem.Problem) (in, out []problem.Tensor) {
			s, p := c.Sizes, shared.QKVOf(c, nil)
			in = []problem.Tensor{{Name: "x", Shape: []int{s["batch"], s["seq"], s["hidden"]}, Type: ty},
				{Name: "w", Shape: []int{s["hidden"], p.Outputs()}, Type: ty, Given: true}}
			if s["bias"] != noBias {
				in = append(in, problem.Tensor{Name: "bias", Shape: []int{p.Outputs()}, Type: ty, Dist: tensor.Normal})
			}
			shape := []int{p.Batch, p.Heads, p.Seq, p.Dim}
			return in, []problem.Tensor{{Name: "out", Shape: shape, Type: ty}, {Name: "same", Shape: shape, Type: ty}}
		},
		Prepare: func(c problem.Problem, in []*tensor.Tensor) error {
			if c.Refused {
				return nil
			}
			// As in a trained layer: q, k and v are of x's size, and no key takes all the weight.
			w := in[1]
			if err := tensor.FillAs(w.Type, w.Data, tensor.Normal, c.Seed, c.Inputs[1].Stream, 0); err != nil {
				return err
			}
			for i := range w.Data {
				w.Data[i] /= float32(math.Sqrt(float64(c.Sizes["hidden"])))
			}
			w.Type.Round(w.Data)
			return nil
		},
		Fault: fault,
		Judge: func(c problem.Problem, in []*tensor.Tensor, out problem.Answer) judge.Ruling {
			if c.Refused {
				none := judge.NoNumbers(len(out.Tensors[0].Data))
				return judge.JudgeRefused(c, out, "NewFusedQKVAttention or Forward", fault(c), none, none)
			}
			l := layer{on(c, in, ty), c.Causal}
			t := l.truth()
			for i, call := range []string{"the layer's Forward", "the function FusedQKVAttention"} {
				one := c
				one.Outputs = c.Outputs[i : i+1]
				got := out.Tensors[i].Data
				r := judge.Rule(one, l, t, got, func(j judge.Judgement) string { return t.Recognise(got, j, l.mistakes()...) })
				if !r.Passed {
					r.Reason = call + ": " + r.Reason
					return r
				}
			}
			return judge.Ruling{Passed: true}
		},
		Least: judge.Once,
	}
}

// layer is one with its inputs.
type layer struct {
	projection
	causal bool
}

func (l layer) String() string {
	mask := "no mask"
	if l.causal {
		mask = "causal"
	}
	return fmt.Sprintf("attention of %v, %s", l.projection, mask)
}

// of is the attention of a projection [rows, outputs].
func (l layer) of(all []float32, causal bool) shared.Mixed {
	qkv := l.Scatter(all)
	s := attn.Shape{Batch: l.Batch, Heads: l.Heads, KVHeads: l.KVHeads, SeqQ: l.Seq, SeqK: l.Seq, Dim: l.Dim, Causal: causal}
	return shared.Mixed{S: s, Type: l.ty, Q: qkv[0], K: qkv[1], V: qkv[2]}
}

// truth is the attention of q, k and v in halves, each rounded once, as the projection's check wants them.
func (l layer) truth() judge.Truth { return l.of(l.projection.truth().Plain, l.causal).Truth() }

// mistakes are those of the mask, and of the projection.
func (l layer) mistakes() []judge.Mistake {
	p := l.projection.truth()
	of := func(all []float32, causal bool, says string) judge.Mistake {
		return judge.Wrong(func() []float64 { return judge.Wide(l.of(all, causal).Compute(shared.PlainWay(l.ty))) }, says)
	}
	mask := "this is causal, and Config.Causal is false: every token sees all"
	if l.causal {
		mask = "the mask is missing: Config.Causal says that a token sees none behind it"
	}
	list := []judge.Mistake{of(p.Plain, !l.causal, mask)}
	for _, m := range l.Mistakes(p.Want) {
		list = append(list, of(judge.Narrow(m.Whole()), l.causal, m.Says))
	}
	return list
}
