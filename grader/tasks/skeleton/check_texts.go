package skeleton

// The pieces of a new check: an element-by-element negation, to be replaced by the real operation.

const checkRubric = `

[[check]]
id     = "ID"
title  = "METHOD"
op     = "OP"
points = 0.5
shares = { correctness = 0.6, safety = 0.15, traffic = 0.25 }

# shape = [n]: x [n] and y [n].
case = [
  { name = "1",    shape = [1],    dist = "normal" },
  { name = "113",  shape = [113],  dist = "normal" },
  { name = "4096", shape = [4096], dist = "normal", traffic = true },
]
`

const checkMethod = `

// METHOD writes −x to y, element by element: both are [n].
func (t *TYPE) METHOD(y, x device.Buffer[float32]) error { return attn.ErrNotImplemented }
`

const checkWorker = `		"OP": worker.OnDevice(worker.Once(PACKAGE.New), func(it *PACKAGE.TYPE, p problem.Problem, out, in worker.Buffers) error {
			return it.METHOD(out[0], in[0])
		}),
`

const checkOp = `package ROOM

import (
	"flashlab/grader/grading/judge"
	"flashlab/grader/grading/problem"
	"flashlab/tensor"
)

// ID is y = −x, element by element: put the check's own operation in its place.
var ID = judge.Op{
	Name:  "OP",
	Sizes: []string{"n"},
	Tensors: func(p problem.Problem) (in, out []problem.Tensor) {
		shape := []int{p.Sizes["n"]}
		return []problem.Tensor{{Name: "x", Shape: shape}}, []problem.Tensor{{Name: "y", Shape: shape}}
	},
	Judge: func(p problem.Problem, in []*tensor.Tensor, out problem.Answer) judge.Ruling {
		t := judge.Truth{Layout: judge.Layout{Outer: 1, Len: len(in[0].Data), Inner: 1}}
		for _, v := range in[0].Data {
			t.Want, t.Plain = append(t.Want, -float64(v)), append(t.Plain, -v)
		}
		return judge.Rule(p, judge.Shapes{Problem: p}, t, out.Tensors[0].Data, func(judge.Judgement) string { return "" })
	},
	Least: judge.Once,
}
`
